# SPDX-License-Identifier: Apache-2.0
"""The build system of dynsel.

Modules that know nothing of SCons, and can be used and tested without it:
    errors      mistakes of the user, and nearest names
    grammar     the lines of a defconfig or fragment
    config      defconfig + fragments -> Configuration, or all mistakes at once
    header      Configuration -> autoconf.h
    explain     why=, diffconfig, unmet dependencies in words
    save        Configuration -> the fewest lines that lead to it
    menu        menuconfig, guiconfig, savedefconfig
    layers      what a room of src/ may use
    lint        kconfig-lint
    matrix      every switch both ways
    aspect_list include/dynsel/aspects.def
    yaml_lines  YAML as nodes with lines
    targets     boards/targets.yaml
    aspect_sets the two sets of seed 003
    aspect_texts  headers, C and menu that follow
    opencl_texts  headers as text for OpenCL programs
    aspects     all of these for a tree and a configuration
    boards      boards/<name>/board.py
    variants    BOARD=, CONF=, VARIANTS= -> what to build
    cli         arguments, help text, commands
    size        flash, RAM and stack: tables and limits
    stack       who calls whom, and the worst-case stack of each public function
    ram         RAM by the menu's numbers
    linked      what a program with one policy keeps of the library
    interface   what the public headers declare, asked from the compiler
    elf         sections, symbols and relocations of objects
    runner      runs a test program, in bounded time, with a log

Modules that put nodes into SCons' graph:
    nodes       small nodes that several modules need
    toolchain   environments and flags
    build       component(), program(), test(): what SConscripts say
    gates       clang-tidy, cppcheck, clang-format and the rest of `scons check`
    install     install
    report      the last lines of a check
"""

# SPDX-License-Identifier: Apache-2.0
"""The build system of dynsel.

Modules that know nothing of SCons, and can be used and tested without it:
    errors      errors of the user, and nearest names
    trees       PRODUCT=, O= -> where things are
    products    what products add to the menu, and what contradicts
    grammar     the lines of a defconfig or fragment
    config      defconfig + fragments -> Configuration, or all errors at once
    header      Configuration -> autoconf.h
    components  what the SConscripts of src/ declare
    amalgamation  the library's sources as one C file
    private_names  names of sources that would clash in it
    generated   the texts of generated headers and private files
    foreign     the configuration of another build system with our menu, and the amalgamation for it
    explain     why=, diffconfig, unmet dependencies in words
    save        Configuration -> the fewest lines that lead to it
    menu        menuconfig, guiconfig, savedefconfig
    layers      the layers of src/: which folder may use which
    lint        kconfig-lint
    matrix      each option flipped, or random configurations
    aspect_list include/dynsel/aspects.def
    yaml_lines  YAML as nodes with lines
    targets     boards/targets.yaml
    aspect_sets the aspects of all devices, and of any device
    aspect_texts  headers, C and menu entries generated from them
    opencl_texts  headers as string literals for OpenCL programs
    aspects     all of these for a tree and a configuration
    boards      boards/<name>/board.py
    variants    BOARD=, CONF=, VARIANTS= -> what to build
    cli         arguments, help text, commands
    size        flash, RAM and stack: tables and limits
    stack       the call graph, and the worst-case stack of each public function
    ram         RAM by the menu's numbers
    linked      flash and RAM of a program that uses one policy
    interface   the declarations of the public headers, as the compiler sees them
    elf         sections, symbols and relocations of objects
    runner      runs a test program, in bounded time, with a log

Modules that put nodes into SCons' graph:
    nodes       small nodes that several modules need
    toolchain   environments and flags
    build       component(), program(), test(): the functions of SConscripts
    product_build  component(), program(), test() of the SConscripts of products
    handover    from the SConstruct of a product to a scons in this tree
    one_file    amalgamation, and variants that are compiled from it
    gates       clang-tidy, cppcheck, clang-format and the rest of `scons check`
    install     install
    install_product  what it adds for products
    report      the last lines of a check
"""

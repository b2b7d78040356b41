# SPDX-License-Identifier: Apache-2.0
"""Asks OpenCL what its devices are, without a line of dynsel's: prints JSON with the answers as bytes."""

import ctypes
import json
import os

ctypes.CDLL("libOpenCL.so.1", mode=os.RTLD_GLOBAL | os.RTLD_NOW)
CL = ctypes.CDLL(None)  # so that what LD_PRELOAD put in front is asked

QUESTIONS = {
    "type": 0x1000, "compute_units": 0x1002, "max_allocation": 0x1010, "image": 0x1016,
    "size": 0x101F, "local": 0x1023, "error_correction": 0x1024, "available": 0x1027, "compiler": 0x1028,
    "queue": 0x102A, "name": 0x102B, "vendor": 0x102C, "driver_version": 0x102D,
    "opencl_version": 0x102F, "extensions": 0x1030, "unified": 0x1035, "opencl_c_version": 0x103D,
    "linker": 0x103E, "svm": 0x1053, "il": 0x105B, "sub_groups": 0x105C, "collectives": 0x1068,
    "generic": 0x1069, "usm_host": 0x4190, "usm_device": 0x4191, "usm_shared": 0x4192,
    "usm_system": 0x4194, "sub_group_sizes": 0x4108,
}


def handles(function, *arguments):
    count = ctypes.c_uint(0)
    if function(*arguments, 0, None, ctypes.byref(count)) != 0:
        return []
    found = (ctypes.c_void_p * count.value)()
    assert function(*arguments, count.value, found, None) == 0
    return [ctypes.c_void_p(h) for h in found]


def ask(function, handle, question):
    """The bytes of an answer as hexadecimal digits, or None."""
    size = ctypes.c_size_t(0)
    if function(handle, question, ctypes.c_size_t(0), None, ctypes.byref(size)) != 0:
        return None
    answer = (ctypes.c_char * max(size.value, 1))()
    if function(handle, question, size, answer, None) != 0:
        return None
    return answer.raw[:size.value].hex()


def main():
    found = []
    for platform in handles(CL.clGetPlatformIDs):
        name = ask(CL.clGetPlatformInfo, platform, 0x0902)
        for device in handles(CL.clGetDeviceIDs, platform, ctypes.c_ulong(0xFFFFFFFF)):
            found.append({"platform": name, **{key: ask(CL.clGetDeviceInfo, device, question)
                                               for key, question in QUESTIONS.items()}})
    print(json.dumps(found))


main()

/* SPDX-License-Identifier: Apache-2.0 */
/* An extension of Python with a policy of its own: count(n) runs n tasks and returns how many ran. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dynsel/dynsel.h>

static dynsel_status count_one(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    ++*(unsigned long *)args;
    return DYNSEL_OK;
}

static PyObject *fail(void)
{
    char text[400];
    dynsel_error_text(NULL, text, sizeof text);
    PyErr_SetString(PyExc_RuntimeError, text);
    return NULL;
}

static PyObject *count(PyObject *self, PyObject *number)
{
    static dynsel_fixed_resource_policy policy;
    static const dynsel_resource here = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &here, .count = 1};
    const unsigned long wanted = PyLong_AsUnsignedLong(number);
    unsigned long ran = 0;
    (void)self;
    if (PyErr_Occurred() != NULL) {
        return NULL;
    }
    dynsel_status status = dynsel_fixed_resource_init(&policy, &options, 0);
    for (unsigned long i = 0; i < wanted && status == DYNSEL_OK; i++) {
        status = dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(count_one, &ran));
    }
    if (status != DYNSEL_OK || dynsel_policy_deinit(&policy.policy) != DYNSEL_OK) {
        return fail();
    }
    return PyLong_FromUnsignedLong(ran);
}

/* Fails, and raises what the library says. */
static PyObject *refuse(PyObject *self, PyObject *nothing)
{
    static dynsel_fixed_resource_policy policy;
    (void)self;
    (void)nothing;
    return dynsel_submit(&policy.policy, &DYNSEL_TASK(count_one, NULL), NULL) == DYNSEL_OK
               ? Py_NewRef(Py_None)
               : fail();
}

static PyMethodDef methods[] = {
    {"count", count, METH_O, "Runs n tasks, and returns how many ran."},
    {"refuse", refuse, METH_NOARGS, "Submits to a policy that is not initialized."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "counting", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_counting(void)
{
    return PyModule_Create(&module);
}

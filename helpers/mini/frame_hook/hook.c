/* A frame evaluator that can be looked through (PEP 523), for CPython 3.11 to 3.13.

   CPython calls the evaluator of its interpreter for every Python frame that starts, and again for
   every generator's frame that goes on. Ours asks the callbacks of this thread where a frame
   starts, and then goes on to the evaluator that was there before it. A callback gets
   (code, arguments) and answers
       None             evaluate the frame as it is
       a code object    evaluate the frame with this code (it must want the same places)
       a callable       do not evaluate the frame: its result is callable(*arguments)
   What it raises is kept, and the frame is evaluated as it is. building.py compiles this file. */

#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE 1
#include <Python.h>
#undef _PyGC_FINALIZED
#include <internal/pycore_frame.h>
#include <internal/pycore_code.h>
#undef Py_BUILD_CORE
#include <stdint.h>

typedef struct _PyInterpreterFrame Frame;

/* The four things that have moved between the versions. */
#if PY_VERSION_HEX >= 0x030D0000
#  define CODE_SLOT(frame) (frame)->f_executable
#  define NEXT(frame) (frame)->instr_ptr
#  define START(code) _PyCode_CODE(code)
#else
#  define CODE_SLOT(frame) (frame)->f_code
#  define NEXT(frame) (frame)->prev_instr
#  define START(code) (_PyCode_CODE(code) - 1)
#endif
#if PY_VERSION_HEX >= 0x030C0000
#  define LEVELS_LEFT(ts) Py_MIN((ts)->c_recursion_remaining, (ts)->py_recursion_remaining)
#else
#  define LEVELS_LEFT(ts) (ts)->recursion_remaining
#endif
#define CODE(frame) ((PyCodeObject *)CODE_SLOT(frame))

enum { FEWEST_LEVELS = 100, MOST_STACK = 4 << 20 };  /* calls left, and bytes used, of the C stack */

/* One callback that is on. It is never freed: another thread may stand in it. */
typedef struct Hook {
    PyObject *callback, *error;       /* the first error is kept, then it is asked no more */
    PyObject *codes, *leaving;        /* what to watch (NULL: all), and what switches it off */
    PyCodeObject **table;             /* the same codes by address: a miss must cost little */
    size_t mask;
    PyThreadState *owner;             /* the evaluator serves all threads, a callback only one */
    struct Hook *below;
} Hook;

static Hook *hooks;
static _PyFrameEvalFunction previous = _PyEval_EvalFrameDefault;
static PyObject *stubs, *make_stub;
static _Thread_local int busy;        /* Python of ours runs: its frames are nobody's business */
static _Thread_local Frame *passed_on;
static _Thread_local char *stack_base;

static PyObject *evaluate(PyThreadState *, Frame *, int);

static void install(void) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    _PyFrameEvalFunction now = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    if (now == evaluate || (hooks && now != _PyEval_EvalFrameDefault)) return;
    previous = now;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
}

/* Where another evaluator has been put over ours we cannot leave: we try again at every frame. */
static void uninstall(void) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (!hooks && _PyInterpreterState_GetEvalFrameFunc(interpreter) == evaluate)
        _PyInterpreterState_SetEvalFrameFunc(interpreter, previous);
}

static PyObject *go_on(PyThreadState *ts, Frame *frame, int throwflag) {
    if (previous == _PyEval_EvalFrameDefault || passed_on == frame)  /* it handed the frame back */
        return _PyEval_EvalFrameDefault(ts, frame, throwflag);
    Frame *outer = passed_on;
    passed_on = frame;
    PyObject *result = previous(ts, frame, throwflag);
    passed_on = outer;
    return result;
}

static size_t slot(Hook *hook, PyCodeObject *code) {
    size_t at = ((uintptr_t)code >> 4) & hook->mask;
    while (hook->table[at] && hook->table[at] != code) at = (at + 1) & hook->mask;
    return at;
}

static int wants(Hook *hook, PyThreadState *ts, PyCodeObject *code) {
    if (hook->owner != ts || !hook->callback || hook->error) return 0;
    if (hook->table) return hook->table[slot(hook, code)] != NULL;
    return (PyObject *)code != hook->leaving;
}

static void keep_error(Hook *hook) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    if (hook->error) Py_XDECREF(value);
    else hook->error = value;
}

static PyObject *arguments(Frame *frame, PyCodeObject *code) {
    int count = code->co_argcount + code->co_kwonlyargcount
              + !!(code->co_flags & CO_VARARGS) + !!(code->co_flags & CO_VARKEYWORDS);
    PyObject *values = PyTuple_New(count);
    for (int i = 0; values && i < count; i++) {
        PyObject *value = frame->localsplus[i] ? frame->localsplus[i] : Py_None;
        PyTuple_SET_ITEM(values, i, Py_NewRef(value));
    }
    return values;
}

/* The new code finds everything where the old one would: else it would read wild memory. */
static int fits(PyCodeObject *new, PyCodeObject *old) {
    const int kind = CO_VARARGS | CO_VARKEYWORDS | CO_OPTIMIZED | CO_NEWLOCALS
                   | CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
    return new->co_argcount == old->co_argcount && new->co_kwonlyargcount == old->co_kwonlyargcount
        && new->co_nlocals == old->co_nlocals && new->co_nlocalsplus == old->co_nlocalsplus
        && new->co_nfreevars == old->co_nfreevars && new->co_stacksize <= old->co_stacksize
        && (new->co_flags & kind) == (old->co_flags & kind);
}

static void put_code(Frame *frame, PyCodeObject *new) {
    PyCodeObject *old = CODE(frame);
    CODE_SLOT(frame) = (void *)Py_NewRef(new);
    NEXT(frame) = START(new);
    Py_DECREF(old);
}

/* From 3.12 on, who evaluates a frame also clears it. `return None` of the same shape does that. */
static PyCodeObject *stub_of(PyCodeObject *code) {
    PyObject *stub = PyDict_GetItemWithError(stubs, (PyObject *)code);
    if (stub || PyErr_Occurred()) return (PyCodeObject *)stub;
    stub = PyObject_CallFunctionObjArgs(make_stub, (PyObject *)code, NULL);
    if (stub && PyDict_SetItem(stubs, (PyObject *)code, stub) < 0) Py_CLEAR(stub);
    Py_XDECREF(stub);                 /* the dict holds it */
    return (PyCodeObject *)stub;
}

/* End the frame without running its code: with a result, or NULL and an exception. */
static PyObject *end(PyThreadState *ts, Frame *frame, PyObject *result) {
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    busy++;
    PyCodeObject *stub = stub_of(CODE(frame));
    if (stub) put_code(frame, stub);
    else PyErr_Clear();               /* out of memory: then the frame has to run after all */
    Py_XDECREF(_PyEval_EvalFrameDefault(ts, frame, 0));
    busy--;
    PyErr_Restore(type, value, traceback);
#endif
    return result;
}

static PyObject *ask(Hook *hook, PyCodeObject *code, PyObject *values) {
    PyObject *callback = Py_NewRef(hook->callback);
    busy++;
    PyObject *answer = PyObject_CallFunctionObjArgs(callback, (PyObject *)code, values, NULL);
    if (answer && answer != Py_None && !PyCode_Check(answer) && !PyCallable_Check(answer)) {
        PyErr_Format(PyExc_TypeError, "the callback must return None, a code object or something "
                     "to call, not %.80s", Py_TYPE(answer)->tp_name);
        Py_CLEAR(answer);
    }
    if (answer && PyCode_Check(answer) && !fits((PyCodeObject *)answer, code)) {
        PyErr_Format(PyExc_ValueError, "the code of %U cannot run in a frame of %U: it must have "
                     "the same arguments, locals, free variables and kind, and no deeper stack",
                     ((PyCodeObject *)answer)->co_name, code->co_name);
        Py_CLEAR(answer);
    }
    if (answer && PyCallable_Check(answer) && !stub_of(code)) Py_CLEAR(answer);
    busy--;
    Py_DECREF(callback);
    return answer;
}

/* Ask from the last callback to the first; the first answer that is not None counts. */
static PyObject *answer_of(PyThreadState *ts, PyCodeObject *code, PyObject *values) {
    for (Hook *hook = hooks; hook; hook = hook->below) {
        if (!wants(hook, ts, code)) continue;
        PyObject *answer = ask(hook, code, values);
        if (!answer && !PyErr_ExceptionMatches(PyExc_Exception)) return NULL;  /* Ctrl-C */
        if (!answer) keep_error(hook);
        else if (answer != Py_None) return answer;
        else Py_DECREF(answer);
    }
    return Py_NewRef(Py_None);
}

static PyObject *replaced(PyThreadState *ts, Frame *frame, PyObject *callable, PyObject *values) {
    PyObject *result = NULL;          /* a replacement that is replaced has no frame to be counted */
    if (!Py_EnterRecursiveCall(" while calling a frame's replacement")) {
        result = PyObject_CallObject(callable, values);
        Py_LeaveRecursiveCall();
    }
    return end(ts, frame, result);
}

static PyObject *hooked(PyThreadState *ts, Frame *frame) {
    PyObject *values = arguments(frame, CODE(frame));
    if (!values) return end(ts, frame, NULL);
    PyObject *answer = answer_of(ts, CODE(frame), values), *result;
    if (answer && answer != Py_None && !PyCode_Check(answer)) {
        result = replaced(ts, frame, answer, values);
        Py_DECREF(answer);
        Py_DECREF(values);
        return result;
    }
    Py_DECREF(values);
    if (!answer) return end(ts, frame, NULL);
    if (PyCode_Check(answer)) put_code(frame, (PyCodeObject *)answer);
    Py_DECREF(answer);
    return go_on(ts, frame, 0);
}

static PyObject *evaluate(PyThreadState *ts, Frame *frame, int throwflag) {
    char here;
    if (!hooks) uninstall();
    if (!hooks || throwflag || busy || NEXT(frame) != START(CODE(frame)))
        return go_on(ts, frame, throwflag);     /* a generator that goes on is not at its start */
    if (stack_base && stack_base - &here > MOST_STACK) {
        PyErr_SetString(PyExc_RecursionError, "the C stack is nearly used up: under a frame hook "
                        "every Python call needs some of it");
        return end(ts, frame, NULL);
    }
    for (Hook *hook = hooks; hook; hook = hook->below)
        if (wants(hook, ts, CODE(frame)) && LEVELS_LEFT(ts) >= FEWEST_LEVELS && !PyErr_Occurred())
            return hooked(ts, frame);
    return go_on(ts, frame, 0);
}

static int fill_table(Hook *hook) {
    Py_ssize_t count = PyTuple_GET_SIZE(hook->codes);
    size_t size = 8;
    while (size < 4 * (size_t)count) size *= 2;
    hook->table = PyMem_Calloc(size, sizeof *hook->table);
    hook->mask = size - 1;
    for (Py_ssize_t i = 0; hook->table && i < count; i++) {
        PyCodeObject *code = (PyCodeObject *)PyTuple_GET_ITEM(hook->codes, i);
        hook->table[slot(hook, code)] = code;
    }
    return hook->table ? 0 : -1;
}

static PyObject *on(PyObject *module, PyObject *given) {
    PyObject *callback, *codes, *leaving;
    char here;
    if (!PyArg_ParseTuple(given, "OOO", &callback, &codes, &leaving)) return NULL;
    Hook *hook = PyMem_Calloc(1, sizeof *hook);
    if (!hook) return PyErr_NoMemory();
    hook->codes = codes == Py_None ? NULL : Py_NewRef(codes);
    if (hook->codes && fill_table(hook) < 0) return PyErr_NoMemory();
    hook->callback = Py_NewRef(callback);
    hook->leaving = Py_NewRef(leaving);
    hook->owner = PyThreadState_Get();
    if (stack_base < &here) stack_base = &here;
    install();
    hook->below = hooks;
    hooks = hook;
    return PyLong_FromVoidPtr(hook);
}

static PyObject *off(PyObject *module, PyObject *number) {
    Hook *hook = PyLong_AsVoidPtr(number), **link = &hooks;
    while (*link && *link != hook) link = &(*link)->below;
    if (!*link) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    *link = hook->below;
    uninstall();
    PyMem_Free(hook->table);
    hook->table = NULL;
    Py_CLEAR(hook->callback);
    Py_CLEAR(hook->codes);
    Py_CLEAR(hook->leaving);
    PyObject *error = hook->error ? hook->error : Py_NewRef(Py_None);
    hook->error = NULL;
    return error;
}

static PyObject *addresses(PyObject *module, PyObject *_) {
    return Py_BuildValue("NN", PyLong_FromVoidPtr((void *)evaluate),
                         PyLong_FromVoidPtr((void *)previous));
}

static PyObject *set_stub_maker(PyObject *module, PyObject *maker) {
    Py_XSETREF(make_stub, Py_NewRef(maker));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"on", on, METH_VARARGS, "on(callback, codes or None, leaving) -> a number for off"},
    {"off", off, METH_O, "off(number) -> the error that the callback raised, or None"},
    {"addresses", addresses, METH_NOARGS, "of our evaluator, and of the one that it goes on to"},
    {"set_stub_maker", set_stub_maker, METH_O, "how to make a code that only returns None"},
    {0}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_frame_hook", "A frame evaluator that asks callbacks.", -1, methods};

PyMODINIT_FUNC PyInit__frame_hook(void) {
    stubs = PyDict_New();
    return stubs ? PyModule_Create(&definition) : NULL;
}

/* A frame evaluator that can be looked through (PEP 523), for CPython 3.11 to 3.13.

   CPython calls the evaluator of its interpreter for every Python frame that starts, and again for
   every generator's frame that goes on. Ours asks the callbacks of this thread where a frame
   starts, and then goes on to the evaluator that was there before it. A callback gets
   (code, arguments) and answers
       None             evaluate the frame as it is
       a code object    evaluate the frame with this code (it must want the same places)
       a callable       do not evaluate the frame: its result is callable(*arguments)
   What it raises is kept, and the frame is evaluated as it is. building.py compiles this file.

   Under an evaluator each call in Python is a call in C, so the C stack can end before the levels
   of recursion do. Every frame is checked against the stack of the thread that it runs in. */

#define _GNU_SOURCE 1
#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE 1
#include <Python.h>
#undef _PyGC_FINALIZED
#include <internal/pycore_frame.h>
#include <internal/pycore_code.h>
#undef Py_BUILD_CORE
#include <stdint.h>
#ifdef _WIN32
#  include <windows.h>
#else
#  include <pthread.h>
#  include <sys/resource.h>
#  include <unistd.h>
#endif

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
#  define C_LEVELS(ts) (ts)->c_recursion_remaining
#  define LEVELS_LEFT(ts) Py_MIN(C_LEVELS(ts), (ts)->py_recursion_remaining)
#else
#  define C_LEVELS(ts) (ts)->recursion_remaining
#  define LEVELS_LEFT(ts) C_LEVELS(ts)
#endif
#define CODE(frame) ((PyCodeObject *)CODE_SLOT(frame))

enum { FEWEST_LEVELS = 100 };         /* of recursion, for a callback */

/* One callback that is on. It is never freed: another thread may stand in it. */
typedef struct Hook {
    PyObject *key;                    /* whose it is: the first argument of `on` */
    PyObject *callback, *error;       /* the first error is kept, then it is asked no more */
    PyObject *codes;                  /* what to watch (NULL: all) */
    PyCodeObject **table;             /* the same codes by address: a miss must cost little */
    size_t mask, missed;              /* frames for which there was no room to ask */
    uint64_t owner;                   /* the evaluator serves all threads, a callback only one */
    int done;                         /* off, but `off` has not yet asked for its error */
    struct Hook *below;
} Hook;

static Hook *hooks;
static int active;                    /* hooks that are not done */
static _PyFrameEvalFunction previous = _PyEval_EvalFrameDefault;
static PyObject *leaving;             /* the code that switches hooks off: its frame ends one */

static _Thread_local struct {         /* one place, so that a frame looks it up once */
    char *checked;                    /* all is well above this address */
    char *low, *high;                 /* the C stack grows down from high to low; NULL: not read */
    size_t limit;                     /* the system's limit when they were read */
    int busy;                         /* Python of ours runs: its frames are nobody's business */
    int entered;                      /* a frame came by since `is_on` was last asked */
    Frame *passed_on;
} mine = {(char *)UINTPTR_MAX};

static PyObject *evaluate(PyThreadState *, Frame *, int);

/* -- the C stack of this thread ----------------------------------------------------------------- */

#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)

enum { FREE, TIGHT, FULL };           /* room for a callback, for the frame alone, for neither */

static size_t system_limit(void) {
#ifndef _WIN32
    struct rlimit limit;              /* of the main thread's stack; a program may change it */
    if (!getrlimit(RLIMIT_STACK, &limit)) return limit.rlim_cur;
#endif
    return 0;
}

static void read_stack(char *here) {
    size_t size = 0, limit = system_limit();
    char *low = NULL;
#ifdef _WIN32
    ULONG_PTR from, to;
    GetCurrentThreadStackLimits(&from, &to);
    low = (char *)from, size = to - from;
#elif defined(__APPLE__)
    size = pthread_get_stacksize_np(pthread_self());
    low = (char *)pthread_get_stackaddr_np(pthread_self()) - size;
#else
    pthread_attr_t attributes;
    size_t guard = 0;
    if (!pthread_getattr_np(pthread_self(), &attributes)) {
        pthread_attr_getstack(&attributes, (void **)&low, &size);
        pthread_attr_getguardsize(&attributes, &guard);
        pthread_attr_destroy(&attributes);
        low += guard, size -= guard;
    }
#  ifndef __GLIBC__                   /* musl counts what the main thread has used so far */
    if (size && getpid() == gettid() && limit > size && limit < 256 * MB)
        low -= limit - size, size = limit;
#  endif
#endif
    if (!size) {                      /* nobody knows: half of what is usual, from here on */
        size = limit && limit < 8 * MB ? limit / 2 : 4 * MB;
        low = here - size;
    }
    mine.high = low + size;
    if (size > 256 * MB) low = mine.high - 256 * MB;      /* an unlimited one eats all memory */
    mine.low = low, mine.limit = limit;
}

/* How much of the stack is left below `here`. What is kept free is for the C code that Python code
   calls: a quarter, but no more than 1 MB. A callback wants half as much again. */
static int room(char *here) {
    if (!mine.high || mine.limit != system_limit()) read_stack(here);
    if (here < mine.low || here >= mine.high) return FREE;   /* somebody else's stack */
    size_t kept = (mine.high - mine.low) / 4;
    if (kept > MB) kept = MB;
    if (kept < 16 * KB) kept = 16 * KB;
    char *full = mine.low + kept, *tight = full + kept / 2;
    if (here < full) return FULL;
    if (here < tight) return TIGHT;
    mine.checked = (size_t)(here - tight) > 64 * KB ? here - 64 * KB : tight;
    return FREE;
}

/* -- on and off --------------------------------------------------------------------------------- */

/* Another evaluator may have been put over ours and go on to it: then frames come by already. */
static void install(void) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    _PyFrameEvalFunction now = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    if (now == evaluate || mine.entered || (active && now != _PyEval_EvalFrameDefault)) return;
    previous = now;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
}

/* Where another evaluator has been put over ours we cannot leave: we try again at every frame. */
static void uninstall(void) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (!active && _PyInterpreterState_GetEvalFrameFunc(interpreter) == evaluate)
        _PyInterpreterState_SetEvalFrameFunc(interpreter, previous);
}

static Hook *hook_of(PyObject *key) {
    Hook *hook = hooks;
    while (hook && hook->key != key) hook = hook->below;
    return hook;
}

static void finish(Hook *hook) {
    if (hook->done) return;
    hook->done = 1;
    active--;
    uninstall();
}

static void drop(Hook *hook) {
    finish(hook);
    Hook **link = &hooks;
    while (*link && *link != hook) link = &(*link)->below;
    if (*link) *link = hook->below;   /* its own `below` stays: somebody may stand in it */
    PyMem_Free(hook->table);
    hook->table = NULL;
    Py_CLEAR(hook->callback);
    Py_CLEAR(hook->codes);
    Py_CLEAR(hook->key);
}

/* Drop what nobody will ever switch off: its thread has ended, or its end was cut short. */
static void drop_orphans(PyThreadState *now) {
    for (Hook *hook = hooks, *below; hook; hook = below) {
        below = hook->below;
        PyThreadState *ts = PyInterpreterState_ThreadHead(now->interp);
        while (ts && ts->id != hook->owner) ts = PyThreadState_Next(ts);
        if (!ts || (ts == now && hook->done)) drop(hook);
    }
}

/* -- evaluating --------------------------------------------------------------------------------- */

static PyObject *go_on(PyThreadState *ts, Frame *frame, int throwflag) {
    if (previous == _PyEval_EvalFrameDefault || mine.passed_on == frame)  /* it handed it back */
        return _PyEval_EvalFrameDefault(ts, frame, throwflag);
    Frame *outer = mine.passed_on;
    mine.passed_on = frame;
    PyObject *result = previous(ts, frame, throwflag);
    mine.passed_on = outer;
    return result;
}

static size_t slot(Hook *hook, PyCodeObject *code) {
    size_t at = ((uintptr_t)code >> 4) & hook->mask;
    while (hook->table[at] && hook->table[at] != code) at = (at + 1) & hook->mask;
    return at;
}

static int wants(Hook *hook, PyThreadState *ts, PyCodeObject *code) {
    if (hook->owner != ts->id || !hook->callback || hook->done || hook->error) return 0;
    if (hook->table) return hook->table[slot(hook, code)] != NULL;
    return 1;
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

/* End the frame with the exception that is set, as if it had been raised before its first line (or
   where a generator stands). It needs no Python of ours, only the frame's own `finally`. */
static PyObject *end(PyThreadState *ts, Frame *frame) {
    return _PyEval_EvalFrameDefault(ts, frame, 1);
}

#if PY_VERSION_HEX < 0x030C0000
static int has_stub(PyCodeObject *code) { return 1; }          /* whoever called clears the frame */

static PyObject *end_with(PyThreadState *ts, Frame *frame, PyObject *result) { return result; }
#else
/* From 3.12 on, who evaluates a frame also clears it. `return None` of the same shape does that;
   it is kept on the code object, and freed with it. */
static PyObject *make_stub;
static Py_ssize_t stub_index = -1;

static PyObject *stub_of(PyCodeObject *code) {
    void *stub = NULL;
    if (PyUnstable_Code_GetExtra((PyObject *)code, stub_index, &stub) < 0) return NULL;
    return stub;
}

static void free_stub(void *stub) { Py_XDECREF((PyObject *)stub); }

static int has_stub(PyCodeObject *code) {
    if (stub_of(code)) return 1;
    PyObject *stub = PyObject_CallFunctionObjArgs(make_stub, (PyObject *)code, NULL);
    if (stub && !PyUnstable_Code_SetExtra((PyObject *)code, stub_index, stub)) return 1;
    Py_XDECREF(stub);
    return 0;
}

static PyObject *end_with(PyThreadState *ts, Frame *frame, PyObject *result) {
    if (!result) return end(ts, frame);
    put_code(frame, (PyCodeObject *)stub_of(CODE(frame)));
    mine.busy++;
    PyObject *none = _PyEval_EvalFrameDefault(ts, frame, 0);
    mine.busy--;
    if (!none) Py_CLEAR(result);      /* a tracer or a signal handler has raised */
    Py_XDECREF(none);
    return result;
}
#endif

static PyObject *ask(Hook *hook, PyCodeObject *code, PyObject *values) {
    PyObject *callback = Py_NewRef(hook->callback);
    mine.busy++;
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
    if (answer && answer != Py_None && !PyCode_Check(answer) && !has_stub(code)) Py_CLEAR(answer);
    mine.busy--;
    Py_DECREF(callback);
    return answer;
}

/* Ask from the last callback to the first; the first answer that is not None counts. */
static PyObject *answer_of(PyThreadState *ts, PyCodeObject *code, PyObject *values) {
    for (Hook *hook = hooks; hook; hook = hook->below) {
        if (!wants(hook, ts, code)) continue;
        PyObject *answer = ask(hook, code, values);
        if (!answer && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) return NULL;
        if (!answer && !hook->key) PyErr_WriteUnraisable((PyObject *)code);  /* off already */
        else if (!answer) keep_error(hook);
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
    return end_with(ts, frame, result);
}

static PyObject *hooked(PyThreadState *ts, Frame *frame) {
    PyObject *values = arguments(frame, CODE(frame));
    if (!values) return end(ts, frame);
    PyObject *answer = answer_of(ts, CODE(frame), values), *result;
    if (answer && answer != Py_None && !PyCode_Check(answer)) {
        result = replaced(ts, frame, answer, values);
        Py_DECREF(answer);
        Py_DECREF(values);
        return result;
    }
    Py_DECREF(values);
    if (!answer) return end(ts, frame);
    if (PyCode_Check(answer)) put_code(frame, (PyCodeObject *)answer);
    Py_DECREF(answer);
    return go_on(ts, frame, 0);
}

static inline Py_ALWAYS_INLINE PyObject *
checked(PyThreadState *ts, Frame *frame, int throwflag, int left) {
    if (CODE_SLOT(frame) == (void *)leaving) {  /* off before its first line: no Ctrl-C between */
        Hook *hook = hook_of(frame->localsplus[0]);
        if (hook) finish(hook);
        return go_on(ts, frame, throwflag);
    }
    if (left == FULL) {
        PyErr_SetString(PyExc_RecursionError, "the C stack is nearly used up: under a frame hook "
                        "every Python call needs some of it");
        return end(ts, frame);
    }
    if (!active) uninstall();
    if (!active || throwflag || mine.busy || mine.passed_on == frame
        || NEXT(frame) != START(CODE(frame)))
        return go_on(ts, frame, throwflag);     /* a generator that goes on is not at its start */
    for (Hook *hook = hooks; hook; hook = hook->below) {
        if (!wants(hook, ts, CODE(frame)) || PyErr_Occurred()) continue;
        if (left == FREE && LEVELS_LEFT(ts) >= FEWEST_LEVELS) return hooked(ts, frame);
        hook->missed++;
    }
    return go_on(ts, frame, 0);
}

/* C code that calls itself (repr, ==, json …) counts levels of recursion too, of 210 bytes at most on
   CPython 3.11. Where less than 2 MB are left, there are no more levels than pieces of 256 bytes. */
enum { BYTES = 256, MOST_LEVELS = 8192 };

static Py_NO_INLINE PyObject *narrow(PyThreadState *ts, Frame *frame, int throwflag, char *here) {
    int left = here > mine.checked ? FREE : room(here);
    ptrdiff_t levels = (here - mine.low) / BYTES;
    int taken = levels < 0 || levels > MOST_LEVELS ? 0 : C_LEVELS(ts) - (int)levels;
    if (taken < 0) taken = 0;
    C_LEVELS(ts) -= taken;
    PyObject *result = checked(ts, frame, throwflag, left);
    C_LEVELS(ts) += taken;
    return result;
}

static PyObject *evaluate(PyThreadState *ts, Frame *frame, int throwflag) {
    char *here = __builtin_frame_address(0);
    mine.entered = 1;
    ptrdiff_t left = here - mine.low;
    if (here > mine.checked && (left / BYTES >= C_LEVELS(ts) || left / BYTES > MOST_LEVELS))
        return checked(ts, frame, throwflag, FREE);
    return narrow(ts, frame, throwflag, here);
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
    PyObject *key, *callback, *codes, *code;
    char here;
    if (!PyArg_ParseTuple(given, "OOOO", &key, &callback, &codes, &code)) return NULL;
    PyThreadState *ts = PyThreadState_Get();
    drop_orphans(ts);
    if (hook_of(key)) {
        PyErr_SetString(PyExc_RuntimeError, "this hook is on already");
        return NULL;
    }
    if (room(&here) != FREE) {
        PyErr_SetString(PyExc_RecursionError, "the C stack is nearly used up here, and a frame "
                        "hook would need some of it for every Python call");
        return NULL;
    }
    Hook *hook = PyMem_Calloc(1, sizeof *hook);
    if (!hook) return PyErr_NoMemory();
    hook->codes = codes == Py_None ? NULL : Py_NewRef(codes);
    if (hook->codes && fill_table(hook) < 0) return PyErr_NoMemory();
    hook->key = Py_NewRef(key);
    hook->callback = Py_NewRef(callback);
    hook->owner = ts->id;
    Py_XSETREF(leaving, Py_NewRef(code));
    install();
    hook->below = hooks;
    hooks = hook;
    active++;
    Py_RETURN_NONE;
}

static PyObject *off(PyObject *module, PyObject *key) {
    Hook *hook = hook_of(key);
    if (!hook) return Py_BuildValue("On", Py_None, (Py_ssize_t)0);
    PyObject *error = hook->error ? hook->error : Py_NewRef(Py_None);
    hook->error = NULL;
    drop(hook);
    return Py_BuildValue("Nn", error, (Py_ssize_t)hook->missed);
}

static PyObject *is_on(PyObject *module, PyObject *key) {
    Hook *hook = hook_of(key);
    mine.entered = 0;
    return PyBool_FromLong(hook && !hook->done);
}

static PyObject *addresses(PyObject *module, PyObject *_) {
    return Py_BuildValue("NN", PyLong_FromVoidPtr((void *)evaluate),
                         PyLong_FromVoidPtr((void *)previous));
}

/* What is static here belongs to the main interpreter, and others would share it. */
static PyObject *set_up(PyObject *module, PyObject *maker) {
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_RuntimeError, "the frame hook serves the main interpreter alone");
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030C0000
    Py_XSETREF(make_stub, Py_NewRef(maker));
    if (stub_index < 0) stub_index = PyUnstable_Eval_RequestCodeExtraIndex(free_stub);
    if (stub_index < 0) {
        PyErr_SetString(PyExc_RuntimeError, "there is no room left on code objects (co_extra)");
        return NULL;
    }
#endif
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"on", on, METH_VARARGS, "on(key, callback, codes or None, the code that leaves)"},
    {"off", off, METH_O, "off(key) -> the error that the callback raised or None, frames missed"},
    {"is_on", is_on, METH_O, "is_on(key) -> whether its hook is on. To ask before a frame, and then `on`"},
    {"addresses", addresses, METH_NOARGS, "of our evaluator, and of the one that it goes on to"},
    {"set_up", set_up, METH_O, "how to make a code that only returns None; main interpreter only"},
    {0}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_frame_hook", "A frame evaluator that asks callbacks.", -1, methods};

PyMODINIT_FUNC PyInit__frame_hook(void) { return PyModule_Create(&definition); }

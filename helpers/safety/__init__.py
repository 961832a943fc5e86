"""What keeps the learner's machine and kernel whole: every room may use it, it uses none.

`folders`: whose folder it is, before anything is deleted, moved or overwritten.
`copies`: files for a learner's folder, where nothing of the learner's is lost.
`learner_record`: what a learner did, a line each, in that folder and nowhere else.
`interrupts`: when Ctrl-C may come. `given`: what an argument is, whatever it says.
`interpreter_state`: a call that leaves everything as it found it; `kept_state`: what that is;
`settings`: what a function has set for the whole process; `patches`: names with another value for
a while; `turns`: of verbs that are called in several threads, `current_frames`: where those stand;
`imported`: modules, and what finds more of them.
`output`: what a learner's code may close. `progress`: what is being done, in words.
`names`, `removal`: what `folders` stands on. `processes`, `keeper`, `child`: commands and Pythons
that end at their limit and with the kernel, and tell their results on a channel of their own.
`missing_parts`: what an error says of a framework, a package or a compiler that is not there, with
the cure; `versions`: pinned and installed; `kernel_messages`: the notebook that shows it.
"""

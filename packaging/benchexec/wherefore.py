# This file is part of wherefore; it can be copied into benchexec/tools or given to BenchExec by its name.
#
# SPDX-License-Identifier: MIT OR Apache-2.0

"""How BenchExec runs wherefore, and reads its answers."""

import re

import benchexec.result as result
from benchexec.tools.sv_benchmarks_util import ILP32, LP64, get_data_model_from_task
from benchexec.tools.template import BaseTool2

# The kinds of checks that can fail, as properties of SV-COMP.
KINDS = {
    "null": result.RESULT_FALSE_DEREF,
    "bounds": result.RESULT_FALSE_DEREF,
    "use-after-free": result.RESULT_FALSE_DEREF,
    "use-after-scope": result.RESULT_FALSE_DEREF,
    "double-free": result.RESULT_FALSE_FREE,
    "invalid-free": result.RESULT_FALSE_FREE,
    "leak": result.RESULT_FALSE_MEMCLEANUP,
    "overflow": result.RESULT_FALSE_OVERFLOW,
    "race": result.RESULT_FALSE_PROP + "(no-data-race)",
    "deadlock": result.RESULT_FALSE_PROP + "(no-deadlock)",
}

# The first line of an answer: `main.c: unsafe (1 of 12 checks can fail)`.
VERDICT = re.compile(r"^\S.*: (safe|unsafe|unknown)(?:$|[ ,])")
FAILING = re.compile(r"^\s+can fail\s+.+?:\d+: .*?(?:\[([a-z-]+)\])?$")


class Tool(BaseTool2):
    """Tool info for wherefore, a software model checker for C."""

    def executable(self, tool_locator):
        return tool_locator.find_executable("wherefore", subdir="bin")

    def name(self):
        return "wherefore"

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="wherefore ")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "check", *options]
        if task.property_file:
            command += ["--property", task.property_file]
        model = get_data_model_from_task(task, {ILP32: "ilp32", LP64: "lp64"})
        if model and "--data-model" not in options:
            command += ["--data-model", model]
        if rlimits.walltime and "--timeout" not in options:
            # What is known by then is printed; two seconds are enough for that.
            command += ["--timeout", str(max(1, rlimits.walltime - 2))]
        return command + list(task.input_files_or_identifier)

    def determine_result(self, run):
        for line in run.output:
            found = VERDICT.match(line.rstrip("\n"))
            if found and found.group(1) == "safe":
                return result.RESULT_TRUE_PROP
            if found and found.group(1) == "unsafe":
                return self._failure(run.output)
            if found:
                return result.RESULT_UNKNOWN
        if run.exit_code.value == 2:
            return result.RESULT_ERROR + "(bad input)"
        return result.RESULT_ERROR

    def _failure(self, output):
        """The property that is broken, by the kind of the first check that can fail."""
        for line in output:
            found = FAILING.match(line.rstrip("\n"))
            if found:
                kind = found.group(1)
                if kind is None:
                    return result.RESULT_FALSE_REACH
                return KINDS.get(kind, result.RESULT_FALSE_PROP)
        return result.RESULT_FALSE_PROP


# In the place of the one above: only files are for readline to quote. What comes from bgtaskctl needs no quotes, and
# readline takes backquotes and dollars in words that name no file for what the shell is to expand.
__bgtaskctl_add_completions() {
    if [[ $1 == -[df] ]]; then compopt -o filenames 2>/dev/null; fi
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(IFS=$'\n' compgen "$@" -- "$cur")
}

# What stands behind -- is a command line of its own.
_bgtaskctl_line() {
    local -i word
    for ((word = 1; word < COMP_CWORD; word++)); do
        if [[ ${COMP_WORDS[word]} == -- && " ${COMP_WORDS[*]:1:word-1} " =~ ' '(run|hold|register)' ' ]]; then
            _bgtaskctl_command "$((word + 1))" "$2"
            return
        fi
    done
    _bgtaskctl "$@"
}

# $1: where the command stands. $2: the word that is completed.
_bgtaskctl_command() {
    local offset
    for offset in _comp_command_offset _command_offset; do
        if declare -F "$offset" >/dev/null; then
            "$offset" "$1"
            return
        fi
    done
    # Without the package bash-completion: commands, then files.
    compopt -o filenames 2>/dev/null
    local kind=-f
    if ((COMP_CWORD == $1)) && [[ $2 != */* ]]; then kind=-c; fi
    mapfile -t COMPREPLY < <(compgen "$kind" -- "$2" | sort -u)
}

complete -F _bgtaskctl_line bgtaskctl

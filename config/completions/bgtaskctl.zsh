
# What stands behind -- is a command line of its own. And where `banghist` is unset, zsh quotes no exclamation marks; but
# in the line that it completes, such as the name of a file, they stand for lines of the history.
functions[__bgtaskctl_verbs]=${functions[_bgtaskctl]/aliases banghist/aliases}
_bgtaskctl() {
    local -i dashes=${words[(i)--]}
    if (( dashes < CURRENT && ${words[1,dashes][(I)(run|hold|register)]} )); then
        shift $dashes words
        (( CURRENT -= dashes ))
        _normal
    else
        __bgtaskctl_verbs "$@"
    fi
}

if [[ "${funcstack[1]}" = _bgtaskctl ]]; then
    _bgtaskctl "${@}"
else
    compdef _bgtaskctl bgtaskctl
fi

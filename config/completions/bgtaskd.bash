# What bash completes after bgtaskd.
_bgtaskd() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    case $before in
    --config | --executor | --socket) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --state-dir) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    *)
        mapfile -t COMPREPLY < <(compgen -W '--config --user --system --socket --state-dir --executor
            --check-config --quiet --version --help' -- "$word")
        ;;
    esac
}
complete -F _bgtaskd bgtaskd

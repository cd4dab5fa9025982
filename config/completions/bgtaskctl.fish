
# What stands behind -- is a command line of its own.
function __bgtaskctl_is_command
    set -l words (commandline -opc)
    set -l dashes (contains -i -- -- $words)
    and string match -qr '^(run|hold|register)$' -- $words[1..$dashes]
end

function __bgtaskctl_complete_command
    set -l words (commandline -opc)
    set -e words[1..(contains -i -- -- $words)]
    complete -C (string join -- ' ' (string escape -- $words) (commandline -ct))
end

complete -c bgtaskctl -n __bgtaskctl_is_command -xa '(__bgtaskctl_complete_command)'

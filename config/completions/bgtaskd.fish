complete -c bgtaskd -f
complete -c bgtaskd -l config -rF -d 'Read the settings in a file and its folder'
complete -c bgtaskd -l user -n 'not __fish_contains_opt system' -d 'Serve the caller alone'
complete -c bgtaskd -l system -n 'not __fish_contains_opt user' -d 'Serve all users'
complete -c bgtaskd -l socket -rF -d 'Listen there'
complete -c bgtaskd -l state-dir -xa '(__fish_complete_directories)' -d 'Keep the state there'
complete -c bgtaskd -l check-config -d 'Say what is wrong with the settings, and end'
complete -c bgtaskd -l version -d 'Show the version'
complete -c bgtaskd -s h -l help -d 'Show what the options mean'

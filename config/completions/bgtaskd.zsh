#compdef bgtaskd
_arguments \
    '--config[read the settings in a file and its folder]:file:_files' \
    '(--system)--user[serve the caller alone]' \
    '(--user)--system[serve all users]' \
    '--socket[listen there]:path:_files' \
    '--state-dir[keep the state there]:folder:_files -/' \
    '--executor[have commands run by the program that listens there]:path:_files' \
    '--check-config[say what is wrong with the settings, and end]' \
    '--quiet[say nothing where the settings are good]' \
    '--version[show the version]' \
    '(-h --help)'{-h,--help}'[show what the options mean]'

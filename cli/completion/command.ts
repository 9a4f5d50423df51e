import { defineCommand, flag } from '../command.ts';
import { unknown, UsageError } from '../errors.ts';

// Each asks `unwedge completion --suggest -- WORD...`; the last word is the one at the cursor, as far as it was typed.

// Bash breaks words at = and :, and replaces only what is behind the last of these: what stands before it is taken off.
const bash = `# Completion of unwedge for bash.
_unwedge() {
  local line="\${COMP_LINE:0:COMP_POINT}" before each also=''
  local -a words=()
  IFS=$' \\t\\n' read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local word="\${words[\${#words[@]}-1]}" current="\${COMP_WORDS[COMP_CWORD]}"
  current="\${current:0:\${#word}}"
  before="\${word%"$current"}"
  COMPREPLY=()
  while IFS= read -r each; do
    case $each in
      :files) also=-f ;;
      :directories) also=-d ;;
      :commands) also=-c ;;
      *) each="\${each%%$'\\t'*}"; COMPREPLY+=("\${each#"$before"}") ;;
    esac
  done < <("\${words[0]/#\\~/$HOME}" completion --suggest -- "\${words[@]:1}" 2> /dev/null)
  [[ -z $also ]] && return
  [[ $current == = ]] && current=''
  while IFS= read -r each; do COMPREPLY+=("$each"); done < <(compgen "$also" -- "$current")
  compopt -o filenames 2> /dev/null
}
complete -F _unwedge unwedge
`;

const zsh = `#compdef unwedge
# Completion of unwedge for zsh.
_unwedge() {
  local each name also=''
  local -a suggested=()
  for each in "\${(@f)$("\${(Q)words[1]}" completion --suggest -- "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2> /dev/null)}"; do
    case $each in
      '') ;;
      :*) also=\${each#:} ;;
      *) name=\${each%%$'\\t'*}; suggested+=("\${name//:/\\\\:}:\${each#*$'\\t'}") ;;
    esac
  done
  (( $#suggested )) && _describe -V 'unwedge' suggested
  [[ $PREFIX == --*=* ]] && compset -P '*='
  case $also in
    files) _files ;;
    directories) _files -/ ;;
    commands) _command_names ;;
  esac
  return 0
}
if [[ \${funcstack[1]} == _unwedge ]]; then
  _unwedge "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _unwedge unwedge
fi
`;

const fish = `# Completion of unwedge for fish.
function __unwedge_suggest
  set -l words (commandline -opc)
  set -l program $words[1]
  set -e words[1]
  set -l current (commandline -ct)
  for each in ($program completion --suggest -- $words "$current" 2> /dev/null)
    switch $each
      case ':files' ':commands'
        __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
      case ':directories'
        __fish_complete_directories (string replace -r '^--[^=]*=' '' -- "$current") ''
      case '*'
        printf '%s\\n' $each
    end
  end
end
complete -c unwedge -f -k -a '(__unwedge_suggest)'
`;

/** The script of each shell. */
const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

/** `unwedge completion`: a script for a shell, and what that script asks at each press of the key. */
export const command = defineCommand({
  usage: 'completion (bash|zsh|fish | --suggest -- WORD...)',
  details: [
    'Prints a script for the shell. It asks unwedge for each completion, so that it knows the commands of the version that is installed, and',
    'names of integrations and sessions that the database has.',
    '',
    "  bash  echo 'source <(unwedge completion bash)' >> ~/.bashrc",
    "  zsh   echo 'source <(unwedge completion zsh)' >> ~/.zshrc",
    '  fish  unwedge completion fish > ~/.config/fish/completions/unwedge.fish',
    '',
    'With --suggest it prints, as the scripts ask it, what the last of the WORDs after -- may become, each on a line with what it is behind a tab.',
    'A last line of :files, :directories or :commands says that the shell adds its own.',
  ].join('\n'),
  takesCommand: true,
  ownsNoOutput: true,
  options: { suggest: flag('what a word may become') },
  operands: ['[SHELL]'],
  choices: Object.keys(scripts),
  async run({ suggest, operands: [shell], db }, io, words) {
    if (suggest) {
      if (shell !== undefined) throw new UsageError('Option --suggest takes WORDs after -- and no SHELL');
      io.stdout.write(await (await import('./suggest.ts')).suggestionLines(words, db, io));
      return 0;
    }
    if (shell === undefined) throw new UsageError('Missing SHELL; it is one of bash, zsh, fish');
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (script === undefined) throw unknown('shell', shell, Object.keys(scripts));
    io.stdout.write(script);
    return 0;
  },
});

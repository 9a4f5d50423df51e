import { beforeDashes, optionValue } from './agentCommand.ts';

/** The arguments of a run of Codex, and whether Codex or we retry its requests. */
interface CodexRun {
  readonly args: readonly string[];
  /** True where Codex repeats no request by itself in that run. */
  readonly bounded: boolean;
}

/** Codex refuses changes to the providers it brings itself. */
const ownProviders: ReadonlySet<string> = new Set(['openai', 'ollama', 'lmstudio', 'oss', 'amazon-bedrock']);
/** In characters: no name of a provider is longer. */
const longestLine = 1000;
const counts = ['request_max_retries', 'stream_max_retries'] as const;

/**
 * The names of the files below its home that a run of Codex is configured by, each over the one before.
 * @param args - may name a profile.
 */
export function codexConfigFiles(args: readonly string[]): readonly string[] {
  const profile = optionValue(beforeDashes(args), '--profile', '-p');
  const isName = profile !== undefined && /^[\w-]+$/.test(profile);
  return ['config.toml', ...(isName ? [`${profile}.config.toml`] : [])];
}

/**
 * Switches Codex's own retries off where they can be: for a provider of the user's, unless he has set them himself.
 * @param configs - the texts of its {@link codexConfigFiles}.
 */
export function boundCodexRetries(args: readonly string[], configs: readonly string[] = []): CodexRun {
  const named = settingsOf(args);
  const settings = new Map([...configs.flatMap((text) => [...settingsIn(text)]), ...named]);
  const provider = /^["']?([\w-]+)["']?$/.exec(settings.get('model_provider') ?? '')?.[1];
  if (provider === undefined || ownProviders.has(provider) || beforeDashes(args).includes('--oss')) {
    return { args, bounded: false };
  }
  const table = `model_providers.${provider}`;
  const about = [...settings].filter(([key]) => key === table || key.startsWith(`${table}.`));
  // To set a field of a provider that is not there would be a mistake that ends the run.
  if (about.length === 0 && !named.has('model_provider')) return { args, bounded: false };
  const isSet = (count: string): boolean =>
    about.some(([key, value]) => key === `${table}.${count}` || (key === table && value.includes(count)));
  const isOff = (count: string): boolean => !isSet(count) || settings.get(`${table}.${count}`) === '0';
  const added = counts.flatMap((count) => (isSet(count) ? [] : ['-c', `${table}.${count}=0`]));
  const at = args.findIndex((word) => word === 'exec' || word === 'e') + 1;
  return { args: [...args.slice(0, at), ...added, ...args.slice(at)], bounded: counts.every(isOff) };
}

type Settings = ReadonlyMap<string, string>;

/** Reads what the arguments set; the last one counts. */
function settingsOf(args: readonly string[]): Settings {
  const words = beforeDashes(args).flatMap((word, index, all) => {
    if (word === '-c' || word === '--config') return [all[index + 1] ?? ''];
    return word.startsWith('--config=') ? [word.slice('--config='.length)] : [];
  });
  return settingsIn(words.join('\n'));
}

/** The settings of a TOML text by their dotted names, as far as providers need it: a table of its own is one without a value. */
function settingsIn(toml: string): Settings {
  const found = new Map<string, string>();
  let table = '';
  // Nothing in texts of several lines is a setting.
  for (const line of toml.replaceAll(/"""[\s\S]*?"""|'''[\s\S]*?'''/g, '""').split('\n')) {
    if (line.length > longestLine) continue;
    const header = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1];
    const [, key, value = ''] = /^\s*([\w"'.\s-]+?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (header !== undefined) {
      table = plainName(header);
      found.set(table, '');
    } else if (key !== undefined) {
      const name = plainName(key);
      found.set(table === '' ? name : `${table}.${name}`, value.replace(/\s+#[^"']*$/, ''));
    }
  }
  return found;
}

const plainName = (dotted: string): string => dotted.replaceAll(/["'\s]/g, '');

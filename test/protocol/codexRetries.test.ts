import { describe, expect, it } from 'vitest';
import { boundCodexRetries, codexConfigFiles } from '../../src/protocol/codexRetries.ts';

const keys = '-c model_providers.mine.request_max_retries=0 -c model_providers.mine.stream_max_retries=0';
const words = (line: string): readonly string[] => line.split(' ');
const bound = (line: string, ...configs: readonly string[]) => {
  const { args, bounded } = boundCodexRetries(words(line), configs);
  return { line: args.join(' '), bounded };
};

describe("Codex's own retries", () => {
  it('[R-6] are switched off for a provider that the arguments name', () => {
    const rest = '-c model_provider="mine" --json hi';
    expect(bound(`exec ${rest}`)).toEqual({ line: `exec ${keys} ${rest}`, bounded: true });
  });

  it.each([
    ['a table', 'model_provider = "mine"\n\n[model_providers.mine] # here\nname = "Mine"\n'],
    ['dotted names', 'model_provider = \'mine\' # here\nmodel_providers.mine.name = "Mine"'],
    ['an inline table', 'model_provider = "mine"\nmodel_providers.mine = { name = "Mine" }'],
    ['a quoted table', 'model_provider = "mine"\n[ model_providers."mine" ]\nname = "x"'],
  ])('[R-6] are switched off for a provider that the configuration names by %s', (_, config) => {
    expect(bound('exec --json hi', config)).toEqual({ line: `exec ${keys} --json hi`, bounded: true });
  });

  it('[R-6] are switched off for the provider of the profile', () => {
    const config = 'model_provider = "other"\n[model_providers.other]\nname="x"\n[model_providers.mine]\nname="x"';
    expect(bound('exec -p work hi', config, 'model_provider = "mine"').line).toBe(`exec ${keys} -p work hi`);
    expect(codexConfigFiles(words('exec -p work hi'))).toEqual(['config.toml', 'work.config.toml']);
    expect(codexConfigFiles(words('exec --profile=../x hi'))).toEqual(['config.toml']);
  });

  it('[R-6] that the user has switched off himself are owned by nobody else', () => {
    const config = 'model_provider = "mine"\n[model_providers.mine]\nrequest_max_retries = 0\nstream_max_retries = 0';
    expect(bound('exec hi', config)).toEqual({ line: 'exec hi', bounded: true });
  });

  it.each([
    ['exec --json hi', ''],
    ['exec -c model_provider=openai hi', ''],
    ['exec --oss hi', 'model_provider = "mine"\n[model_providers.mine]\nname="x"'],
    [
      'exec -c model_provider=a -c model_providers.a.request_max_retries=3 -c model_providers.a.stream_max_retries=1',
      '',
    ],
    ['exec -- -c model_provider=a', ''],
    ['exec hi', 'model_provider = "gone"'],
    ['exec hi', 'notes = """\nmodel_provider = "mine"\n[model_providers.mine]\n"""'],
    ['exec hi', '[model_providers.mine]\nmodel_provider = "mine"'],
    ['exec hi', 'model_provider = "mine"\n[model_providers.mine]\nrequest_max_retries = 4\nstream_max_retries = 2'],
  ])('[R-6] are left to Codex by: %s, %j', (args, config) => {
    expect(bound(args, config)).toEqual({ line: args, bounded: false });
  });
});

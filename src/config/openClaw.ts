import { ConfigFileError, parseJson, textOf } from './configFile.ts';
import { createLocator, type Position, type RepeatedKey, repeatedKeys } from './jsonPositions.ts';
import { isPlainObject, type Layer } from './layers.ts';
import { excessOf } from './size.ts';

type Path = readonly (string | number)[];

/** Part of an `openclaw.json` that is about us. */
interface OpenClawPart {
  readonly value: Layer['value'];
  /** Finds the position of a key in the file; as the others, without the `gateway` that is above all of them. */
  readonly locate: (path: Path) => Position | undefined;
  readonly repeated: readonly RepeatedKey[];
}

/**
 * Reads the part of an `openclaw.json` about us: its `gateway.toolCallRetry`. Undefined where there is no such file.
 * @throws {@link ConfigFileError} when it is no JSON5, or what holds that key is no object.
 */
export async function readOpenClaw(file: string): Promise<OpenClawPart | undefined> {
  const text = await textOf(file).catch((error: unknown) => {
    if (error instanceof ConfigFileError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
      return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const value = partOf(parseJson(text));
  const locate = createLocator(text);
  return { value, locate: (path) => locate(['gateway', ...path]), repeated: repeatedInOpenClaw(text) };
}

/** The keys that concern us and are given more than once; the rest of the file is OpenClaw's own. */
export function repeatedInOpenClaw(text: string): readonly RepeatedKey[] {
  return repeatedKeys(text)
    .filter(({ path: [top, key] }) => top === 'gateway' && (key === undefined || key === 'toolCallRetry'))
    .map((each) => ({ ...each, path: each.path.slice(1) }));
}

function partOf(config: unknown): Layer['value'] {
  if (!isPlainObject(config)) throw new ConfigFileError('expected an object');
  const { gateway } = config;
  if (gateway === undefined) return {};
  if (!isPlainObject(gateway)) throw new ConfigFileError('gateway: expected an object');
  const { toolCallRetry } = gateway;
  const excess = excessOf(toolCallRetry);
  if (excess !== undefined) throw new ConfigFileError(`gateway.toolCallRetry: ${excess}`);
  return toolCallRetry === undefined ? {} : { toolCallRetry };
}

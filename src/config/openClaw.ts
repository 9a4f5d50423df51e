import { ConfigFileError, parseJson, textOf } from './configFile.ts';
import { isPlainObject, type Layer } from './layers.ts';

/**
 * What an `openclaw.json` says of us: its `gateway.toolCallRetry`. Undefined where there is no such file.
 * @throws {@link ConfigFileError} when it is no JSON5, or what holds that key is no object.
 */
export async function readOpenClaw(file: string): Promise<Layer['value'] | undefined> {
  const text = await textOf(file).catch((error: unknown) => {
    if (error instanceof ConfigFileError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
      return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const config = parseJson(text);
  if (!isPlainObject(config)) throw new ConfigFileError('expected an object');
  const { gateway } = config;
  if (gateway === undefined) return {};
  if (!isPlainObject(gateway)) throw new ConfigFileError('gateway: expected an object');
  const { toolCallRetry } = gateway;
  return toolCallRetry === undefined ? {} : { toolCallRetry };
}

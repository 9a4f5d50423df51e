import { durationPattern, infinity, durationText } from '../policy/text/duration.ts';
import type { KeyData, Keys } from '../policy/options/optionKeys.ts';
import { configTable, defaultOf, variableAt } from './keys.ts';

type Json = Readonly<Record<string, unknown>>;

/** The JSON schema of a configuration file (draft 7, which editors know best), with descriptions, bounds and defaults, and the variables in the descriptions. */
export function configJsonSchema(): Json {
  const definitions: Record<string, Json> = {};
  const schema = schemaOf(configTable, [], definitions);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    title: 'Configuration of unwedge',
    definitions,
  };
}

/** The schema of a key; what is used more than once is put among the definitions. */
function schemaOf(key: KeyData, path: readonly string[], definitions: Record<string, Json>): Json {
  const { id } = key;
  if (id === undefined) return { ...described(key, path), ...formOf(key, path, definitions) };
  definitions[id] ??= { ...described(key, path), ...formOf(key, path, definitions) };
  return { $ref: `#/definitions/${id}` };
}

function described(key: KeyData, path: readonly string[]): Json {
  const variable = variableAt(path);
  const description = [key.help, variable === undefined ? undefined : `(${variable})`].filter(Boolean).join(' ');
  const value = defaultOf(key);
  const isTime = key.kind === 'duration' && typeof value === 'number';
  return {
    ...(description !== '' && { description }),
    ...(value !== undefined && { default: isTime ? durationText(value) : value }),
  };
}

function formOf(key: KeyData, path: readonly string[], definitions: Record<string, Json>): Json {
  const inner = (of: KeyData, step = '*'): Json => schemaOf(of, [...path, step], definitions);
  switch (key.kind) {
    case 'duration':
      return durationForm(key);
    case 'number':
      return {
        type: key.integer ? 'integer' : 'number',
        minimum: key.min,
        ...(key.max !== undefined && { maximum: key.max }),
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'text':
      return { type: 'string', ...(!key.empty && { minLength: 1 }) };
    case 'choice':
      return { type: 'string', enum: key.choices };
    case 'off':
      return { const: false };
    case 'list':
      return { type: 'array', items: inner(key.of), ...(key.least > 0 && { minItems: key.least }) };
    case 'names':
      return { type: 'object', propertyNames: { pattern: key.name.source }, additionalProperties: inner(key.of) };
    case 'object':
      return objectForm(key.keys, inner);
    case 'variants': {
      const forms = Object.entries(key.of).map(([word, keys]) => {
        const by = { kind: 'choice', choices: [word] } as const;
        // Without its word an object is the usual one.
        return objectForm({ [key.by]: word === key.usual ? by : { ...by, required: true }, ...keys }, inner);
      });
      return { oneOf: forms };
    }
    case 'either':
      // The variable of what can be switched off belongs to the whole.
      return {
        anyOf: key.of.map((each) => ({
          ...described({ ...each, default: undefined }, ['']),
          ...formOf(each, path, definitions),
        })),
      };
    case 'methods':
    case 'test':
      return key.textInFiles === true ? { type: 'string' } : {};
  }
}

function objectForm(keys: Keys, inner: (of: KeyData, step: string) => Json): Json {
  const required = Object.keys(keys).filter((name) => keys[name]?.required === true);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries<KeyData>(keys).map(([name, each]) => [name, inner(each, name)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function durationForm({ zero, infinite }: Extract<KeyData, { kind: 'duration' }>): Json {
  const { source } = durationPattern;
  // A number above 0 has a digit above 0 somewhere.
  const pattern = zero ? source : source.replace('^', '^(?=.*[1-9])');
  return {
    anyOf: [
      { type: 'number', ...(zero ? { minimum: 0 } : { exclusiveMinimum: 0 }) },
      { type: 'string', pattern },
      ...(infinite ? [{ const: infinity }] : []),
    ],
  };
}

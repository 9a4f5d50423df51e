/** Form of an answer: yes or no, a text, the id of an option, or fields that fit a JSON schema. Each may be declined. */
export type QuestionForm =
  | { readonly is: 'decision' }
  | { readonly is: 'text' }
  | { readonly is: 'choice'; readonly options: readonly { readonly id: string; readonly name?: string | undefined }[] }
  | { readonly is: 'fields'; readonly schema: unknown };

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Types of JSON schema, by how a value has them; what is not here fits. */
const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: isObject,
};

/**
 * Says what a form takes; undefined where the value fits it. Of the schema of fields it looks at `required`, `additionalProperties: false`, and at `type` and
 * `enum` of each field: what MCP allows in a question to a person (2025-11-25) and a person can get wrong.
 */
export function unfit(form: QuestionForm, value: unknown): string | undefined {
  if (form.is === 'decision') return value === undefined ? undefined : 'yes or no alone';
  if (form.is === 'text') return typeof value === 'string' && value.trim() !== '' ? undefined : 'a text';
  if (form.is === 'fields') return isObject(value) ? unfitField(form.schema, value) : 'an object of fields';
  return form.options.some(({ id }) => id === value) ? undefined : choicesText(form);
}

/** Names the options of a choice. */
export function choicesText({ options }: Extract<QuestionForm, { is: 'choice' }>): string {
  return `one of ${options.map(({ id, name = id }) => (name === id ? id : `${id} (${name})`)).join(', ')}`;
}

function unfitField(schema: unknown, fields: Members): string | undefined {
  if (!isObject(schema)) return undefined;
  const { required, additionalProperties, properties } = schema;
  const known = isObject(properties) ? properties : {};
  const needed = (Array.isArray(required) ? (required as unknown[]) : []).filter((name) => typeof name === 'string');
  const missing = needed.find((name) => fields[name] === undefined);
  if (missing !== undefined) return `the field ${missing}`;
  for (const [name, value] of Object.entries(fields)) {
    const field = Object.hasOwn(known, name) ? known[name] : undefined;
    if (field === undefined && additionalProperties === false) return `no field ${name}`;
    if (!isObject(field)) continue;
    const { type, enum: choices } = field;
    const fits = typeof type === 'string' && Object.hasOwn(types, type) ? types[type] : undefined;
    if (fits?.(value) === false) return `the field ${name} as ${String(type)}`;
    if (Array.isArray(choices) && !choices.includes(value))
      return `one of ${choices.map(String).join(', ')} as ${name}`;
  }
  return undefined;
}

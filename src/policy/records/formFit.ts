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
 * Says what a form takes; undefined where the value fits it. Of the schema of fields it looks at what MCP allows in a
 * question to a person (2025-11-25): no other fields, `required`, and of each field its type, choices, bounds and format.
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
  const { required, properties, additionalProperties } = schema;
  const known = isObject(properties) ? properties : {};
  const needed = (Array.isArray(required) ? (required as unknown[]) : []).filter((name) => typeof name === 'string');
  const missing = needed.find((name) => fields[name] === undefined);
  if (missing !== undefined) return `the field ${missing}`;
  for (const [name, value] of Object.entries(fields)) {
    const field = Object.hasOwn(known, name) ? known[name] : undefined;
    if (field === undefined && isObject(properties) && additionalProperties !== true) return `no field ${name}`;
    const wanted = isObject(field) ? unfitValue(field, value) : undefined;
    if (wanted !== undefined) return `${wanted} as ${name}`;
  }
  return undefined;
}

/** The formats of a text that MCP has. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => !/\s/.test(text) && URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text),
  'date-time': (text) => /^[\d-]{10}T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(text) && isDay(text),
};

/** The calendar of JavaScript goes on behind the end of a month. */
function isDay(text: string): boolean {
  const day = text.slice(0, 10);
  const at = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(Date.parse(text)) && !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** Says what a field takes, by the schemas of fields that MCP has (2025-11-25), lists of choices among them. */
function unfitValue(field: Members, value: unknown): string | undefined {
  const { type, enum: choices = choicesOf(field['oneOf'] ?? field['anyOf']), format, items } = field;
  const fits = typeof type === 'string' && Object.hasOwn(types, type) ? types[type] : undefined;
  if (fits?.(value) === false) return `${/^[aio]/.test(String(type)) ? 'an' : 'a'} ${String(type)}`;
  if (Array.isArray(choices) && !choices.includes(value)) return `one of ${choices.map(String).join(', ')}`;
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  const [size, low, high, unit] =
    typeof value === 'string'
      ? [Array.from(value).length, field['minLength'], field['maxLength'], ' characters']
      : Array.isArray(value)
        ? [list.length, field['minItems'], field['maxItems'], ' choices']
        : [Number(value), field['minimum'], field['maximum'], ''];
  if (typeof low === 'number' && size < low) return `at least ${low}${unit}`;
  if (typeof high === 'number' && size > high) return `at most ${high}${unit}`;
  const isOf = typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (typeof value === 'string' && isOf?.(value) === false) return `a text of the format ${String(format)}`;
  return isObject(items)
    ? list.map((each) => unfitValue(items, each)).find((wanted) => wanted !== undefined)
    : undefined;
}

/** The values of choices that have titles. */
function choicesOf(given: unknown): readonly unknown[] | undefined {
  const all: readonly unknown[] = Array.isArray(given) ? given : [];
  return all.length > 0 && all.every(isObject) ? all.map((each) => each['const']) : undefined;
}

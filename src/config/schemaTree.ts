import { z } from 'zod';
import { type KeyMeta, keyMeta } from './keyTypes.ts';
import { configSchema } from './schema.ts';

/** A part of the schema as data: JSON schema, as far as ours makes use of it, and what our keys say beyond that. */
export interface SchemaNode extends KeyMeta {
  readonly type?: string | undefined;
  readonly const?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly properties?: Readonly<Record<string, SchemaNode>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: SchemaNode | false | undefined;
  readonly items?: SchemaNode | undefined;
  readonly anyOf?: readonly SchemaNode[] | undefined;
  readonly oneOf?: readonly SchemaNode[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
}

/** The schema as data, each part in its place, to be walked. */
export function schemaTree(): SchemaNode {
  const metadata = z.registry<KeyMeta>();
  // What has an id would be put apart.
  metadata.get = (schema) => {
    const { id: _, ...meta } = keyMeta.get(schema) ?? {};
    return meta as ReturnType<typeof metadata.get>;
  };
  return z.toJSONSchema(configSchema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    metadata,
    override({ zodSchema, jsonSchema }) {
      const value = keyMeta.get(zodSchema)?.default;
      if (value !== undefined) jsonSchema.default = value as never;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  }) as SchemaNode;
}

import type { Attributes } from '@opentelemetry/api';
import type { FactRedactor } from '../src/redaction/face.ts';

/** Longest text of an attribute, in characters: names of tools come from agents, messages from servers. */
const longest = 500;

/** Takes secrets out of what is exported, and cuts what is too long. */
export class RedactedTexts {
  readonly #redact: FactRedactor;

  constructor(redact: FactRedactor) {
    this.#redact = redact;
  }

  text(text: string): string {
    const { message } = this.#redact({ message: text });
    return message.length > longest ? `${message.slice(0, longest - 1)}…` : message;
  }

  /** Numbers and booleans stay as they are. */
  attributes(attributes: Attributes): Attributes {
    const entries = Object.entries(attributes);
    return Object.fromEntries(
      entries.map(([name, value]) => [name, typeof value === 'string' ? this.text(value) : value]),
    );
  }
}

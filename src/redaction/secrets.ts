import type { KnownSecrets } from './knownSecrets.ts';
import { withoutAssignments } from './secretAssignments.ts';
import { isSecretName, type NameMeaning } from './secretNames.ts';
import { withoutAddressSecrets, withoutTokens } from './secretShapes.ts';

/** Shorter than any secret that can be told by its shape; spares most texts of an event the search. */
const shortestSecret = 8;
/** Shorter texts can only hold what is assigned, or given after a flag. */
const shortestShape = 13;

/** The text without its likely secrets. The time grows no faster than the text, as its author may be hostile. */
export function redactText(text: string): string {
  if (text.length < shortestSecret) return text;
  return withoutAssignments(withoutAddressSecrets(text.length < shortestShape ? text : withoutTokens(text)));
}

/** The name of a field, as it may be kept. */
export interface FieldName {
  readonly clean: string;
  /** Kind of what goes under it. */
  readonly meaning: NameMeaning;
}

/** Takes secrets out of texts and names; knows values of the environment too. */
export interface TextRedactor {
  text(text: string): string;
  name(name: string): FieldName;
}

/** Names come back with every event; so many, and none that is longer, are not looked at anew. */
const maxNames = 1_000;
const maxNameChars = 64;
/** Texts from this length on are remembered for a while, so many of them. */
const longChars = 100;
const rememberedTexts = 4;

/** Part of the known secrets that takes them out of texts. */
export type Hiding = Pick<KnownSecrets, 'hide' | 'version'>;

/** @param secrets - to be found wherever they stand; what is learnt later too. @defaultValue none */
export function createTextRedactor(secrets?: Hiding): TextRedactor {
  const known = new Map<string, FieldName>();
  /** Long texts that were found clean last: failures come in floods, each with the message and the stack of the one before. */
  const lastClean: string[] = [];
  let next = 0;
  let version = secrets?.version;

  function text(given: string): string {
    if (secrets?.version !== version) forget();
    const isLong = given.length >= longChars;
    if (isLong && lastClean.includes(given)) return given;
    const clean = redactText(secrets?.hide(given) ?? given);
    if (isLong && clean === given) lastClean[next++ % rememberedTexts] = given;
    return clean;
  }

  function forget(): void {
    version = secrets?.version;
    known.clear();
    lastClean.length = 0;
  }

  return {
    text,
    name(name) {
      if (secrets?.version !== version) forget();
      const found = known.get(name);
      if (found !== undefined) return found;
      const meaning = /^env(ironment)?$/i.test(name) ? 'environment' : isSecretName(name) ? 'secret' : 'plain';
      const field: FieldName = { clean: text(name), meaning };
      if (known.size < maxNames && name.length <= maxNameChars) known.set(name, field);
      return field;
    },
  };
}

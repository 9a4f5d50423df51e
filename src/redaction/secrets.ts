import type { KnownSecrets } from './knownSecrets.ts';
import { withoutAssignments } from './secretAssignments.ts';
import { holdsName, isSecretName, type NameMeaning } from './secretNames.ts';
import { withoutAddressSecrets, withoutTokens } from './secretShapes.ts';

/** Length of the shortest secret there may be: the password of an address. Spares most values of a fact the search. */
export const shortestSecret = 6;
/** Shorter texts hold no secret that can be told by its shape. */
const shortestTold = 8;
/** Shorter texts can only hold what is assigned, or given after a flag. */
const shortestShape = 13;

/** The text without its likely secrets. The time grows no faster than the text, as its author may be hostile. */
export function redactText(text: string): string {
  if (text.length < shortestTold) return text;
  return withoutAssignments(withoutAddressSecrets(text.length < shortestShape ? text : withoutTokens(text)));
}

/** The name of a field, as it may be told, and what is known by it of the value. */
export interface FieldName {
  readonly clean: string;
  /** Kind of what goes under it. */
  readonly meaning: NameMeaning;
  /** True where the value is the name of an integration, a tool or a session. */
  readonly isName: boolean;
  /** True where the value is a time in ms. */
  readonly isMs: boolean;
}

/** Names come back with every event; so many, and none that is longer, are not looked at anew. */
const maxNames = 1_000;
const maxNameChars = 64;
/** Texts from this length on are remembered for a while, so many of them. */
const longChars = 100;
const rememberedTexts = 4;
/** Shorter texts that were clean: types, kinds and names come back with every event. */
const maxShortTexts = 1_000;

/** Part of the known secrets that takes them out of texts. */
export type Hiding = Pick<KnownSecrets, 'hide' | 'version'>;

/** Takes secrets out of texts and names; knows values of the environment too. */
export class TextRedactor {
  readonly #secrets: Hiding | undefined;
  readonly #names = new Map<string, FieldName>();
  readonly #shortClean = new Set<string>();
  /** Long texts that were found clean last: failures come in floods, each with the message and the stack of the one before. */
  readonly #longClean: string[] = [];
  #next = 0;
  #version: number | undefined;

  constructor(secrets: Hiding | undefined) {
    this.#secrets = secrets;
    this.#version = secrets?.version;
  }

  /** Forgets what was clean before more secrets were known. */
  refresh(): void {
    const version = this.#secrets?.version;
    if (version === this.#version) return;
    this.#version = version;
    this.#names.clear();
    this.#shortClean.clear();
    this.#longClean.length = 0;
  }

  /** Names that were looked at. Good until the next {@link refresh}, as what {@link clean} takes for clean is. */
  get known(): ReadonlyMap<string, FieldName> {
    return this.#names;
  }

  readonly text = (text: string): string => {
    this.refresh();
    return this.clean(text);
  };

  /** The same for many texts after one {@link refresh}. */
  clean(given: string): string {
    const isLong = given.length >= longChars;
    if (isLong ? this.#longClean.includes(given) : this.#shortClean.has(given)) return given;
    const clean = redactText(this.#secrets?.hide(given) ?? given);
    if (clean !== given) return clean;
    if (isLong) this.#longClean[this.#next++ % rememberedTexts] = given;
    else {
      if (this.#shortClean.size >= maxShortTexts) this.#shortClean.clear();
      // A copy: as long as a line, V8 keeps the whole of what it was cut from, such as 64 kB that a child wrote.
      this.#shortClean.add(` ${given}`.slice(1));
    }
    return given;
  }

  name(name: string): FieldName {
    const found = this.#names.get(name);
    if (found !== undefined) return found;
    const meaning = /^env(ironment)?$/i.test(name) ? 'environment' : isSecretName(name) ? 'secret' : 'plain';
    const isMs = /(?:^ms|Ms|_ms)$/.test(name);
    const field: FieldName = { clean: this.clean(name), meaning, isName: holdsName(name), isMs };
    if (this.#names.size < maxNames && name.length <= maxNameChars) this.#names.set(name, field);
    return field;
  }
}

/** @param secrets - to be found wherever they stand; what is learnt later too. @defaultValue none */
export function createTextRedactor(secrets?: Hiding): TextRedactor {
  return new TextRedactor(secrets);
}

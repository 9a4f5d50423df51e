const [quote, backslash] = [0x22, 0x5c];
const opening: readonly number[] = [0x5b, 0x7b];
const closing: readonly number[] = [0x5d, 0x7d];

/** Follows JSON as it comes, to know whether it ends within a string, an array or an object: nothing else tells half of a body that ends with its connection. */
export class OpenJson {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  push(chunk: Uint8Array): void {
    // Bytes of other characters are none of these in UTF-8.
    for (const byte of chunk) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === quote) this.#isInString = !this.#isInString;
      else if (this.#isInString) this.#isEscaped = byte === backslash;
      else if (opening.includes(byte)) this.#depth++;
      else if (closing.includes(byte)) this.#depth--;
    }
  }

  get isOpen(): boolean {
    return this.#isInString || this.#depth > 0;
  }
}

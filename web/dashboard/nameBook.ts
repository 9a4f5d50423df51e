import { createShownNames } from '../../src/redaction/face.ts';
import type { TreeNode } from '../../src/supervisor/face.ts';

/** Names that were changed to be shown and are remembered; those that were shown first are forgotten first. */
const mostKept = 10_000;

/** Names as they may be shown, and what a page means by them. Nearly all are shown as they are. */
export class NameBook {
  readonly #shown = createShownNames();
  readonly #real = new Map<string, string>();

  readonly show = (name: string): string => {
    const shown = this.#shown(name);
    if (shown !== name) {
      this.#real.set(shown, name);
      const [oldest] = this.#real.keys();
      if (this.#real.size > mostKept && oldest !== undefined) this.#real.delete(oldest);
    }
    return shown;
  };

  /** The name that is shown so. */
  real(shown: string): string {
    return this.#real.get(shown) ?? shown;
  }

  /** As events have it: without secrets, and without what tells it apart. */
  recorded(shown: string): string {
    return this.#real.has(shown) ? shown.slice(0, -tagLength) : shown;
  }

  /** Tells whether it looks like a name that was changed, and nobody has shown it since this dashboard began. */
  isUnknown(shown: string): boolean {
    return /#[0-9a-f]{6}$/.test(shown) && !this.#real.has(shown);
  }

  /** A text without secrets, of which nothing has to be told apart. */
  clean(text: string): string {
    const shown = this.#shown(text);
    return shown === text ? text : shown.slice(0, -tagLength);
  }

  /** `session:NAME`, `mcp:NAME` and all below it. */
  tree(node: TreeNode): TreeNode {
    const [, kind, name] = /^(session|mcp|integration):(.*)$/s.exec(node.id) ?? [];
    const id = name === undefined ? node.id : `${kind}:${this.show(name)}`;
    return {
      ...node,
      id,
      ...(node.children !== undefined && { children: node.children.map((each) => this.tree(each)) }),
    };
  }

  /** A copy of plain data with all names and ids in it as they may be shown: ids hold names. */
  in<T>(data: T): T {
    return this.#copy(data, false) as T;
  }

  #copy(value: unknown, isName: boolean): unknown {
    if (typeof value === 'string') return isName ? this.show(value) : value;
    if (Array.isArray(value)) return value.map((each) => this.#copy(each, isName));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([field, each]) => [field, this.#copy(each, named.has(field))]);
    return Object.fromEntries(fields) as unknown;
  }
}

/** Fields of names and ids. Texts may stand there too: secrets in them are taken out as they are of names. */
const named = new Set(['session', 'integration', 'tool', 'call', 'id', 'message', 'question', 'what', 'watchdog']);

const tagLength = '#123456'.length;

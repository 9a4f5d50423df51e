import { signal } from '@preact/signals';
import type { BulkLine } from '../snapshot.ts';
import { stopMany } from './api.ts';
import { told, verbs } from './dialog.tsx';
import { Glyph } from './glyph.tsx';
import { isStale, right } from './live.ts';
import { count } from './words.ts';
import { tables } from './tables.ts';

/** The ended ones that the reader has put away. */
const away = signal<ReadonlySet<string>>(new Set());

/** Shows the progress of an order on many, with a button that stops it. */
export function Bulks() {
  const lines = tables.bulks.all.value.filter(({ key }) => !away.value.has(key));
  return (
    <>
      {lines.map((line) => (
        <Progress key={line.key} line={line} />
      ))}
    </>
  );
}

function Progress({ line }: { readonly line: BulkLine }) {
  const { key, order, total, done, failed, state, by, lastError } = line;
  const runs = state === 'running';
  const given = done + failed;
  const title = `${verbs[order]} ${count(total)}`;
  return (
    <section class="bar note" aria-label={title}>
      <Glyph name={runs ? 'run' : failed > 0 ? 'warn' : 'ok'} tone={runs ? 'acc' : failed > 0 ? 'warn' : 'ok'} />
      <span>
        <b>{title}</b>
        {by !== '' && (
          <>
            {' '}
            by <bdi>{by}</bdi>
          </>
        )}
        : {runs ? `${count(given)} given` : `${state} after ${count(given)}`}, {count(done)} done, {count(failed)} not
        done.
        {lastError !== undefined && <> The last: {lastError}</>}
      </span>
      <progress max={total} value={given} aria-label={title} />
      {runs ? (
        right.value === 'all' && (
          <button
            type="button"
            class="btn"
            aria-disabled={isStale.value}
            onClick={() => {
              if (!isStale.value) void stopMany(key).then(({ text }) => (told.value = text));
            }}
          >
            Stop
          </button>
        )
      ) : (
        <button type="button" class="btn" onClick={() => (away.value = new Set([...away.value, key]))}>
          Put away
        </button>
      )}
    </section>
  );
}

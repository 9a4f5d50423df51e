import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../../src/policy/failures/face.ts';
import { get } from './api.ts';
import { isStale, paused } from './live.ts';

/** State of a question: the last answer, and why there is none. */
export interface Asked<T> {
  readonly answer: T | undefined;
  readonly error: string;
}

/** Asks for a path, now and again while the page is live. @param everyMs - how long after an answer, in ms. */
export function useAsked<T>(path: string, everyMs: number): Asked<T> {
  const [state, setState] = useState<Asked<T> & { readonly path: string }>({ path, answer: undefined, error: '' });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const ask = async (): Promise<void> => {
      if (!paused.value && !isStale.value) {
        const next = await get<T>(path).then(
          (answer) => ({ path, answer, error: '' }),
          (error: unknown) => ({ path, answer: undefined, error: messageOf(error) }),
        );
        if (!isOver) setState(next);
      }
      if (!isOver) timer = setTimeout(() => void ask(), everyMs);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, everyMs]);
  // An answer about something else is no answer.
  return state.path === path ? state : { answer: undefined, error: '' };
}

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** True while the keys are shown. */
export const isHelpShown = signal(false);

const keys: readonly (readonly [key: string, what: string])[] = [
  ['1 to 8', 'the views'],
  ['/', 'find a session or an integration'],
  ['j, k', 'next row, row before'],
  ['Enter', 'open the row'],
  ['x', 'choose the row for an order on many'],
  ['Tab', 'from one button or link to the next'],
  ['p', 'pause and go on'],
  ['t', 'times: how long ago, or by the clock'],
  ['Esc', 'close a dialog, leave a field'],
  ['?', 'these keys'],
];

/** The keys of the page. */
export function Help() {
  return isHelpShown.value ? <Keys /> : null;
}

function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const close = (): void => {
    isHelpShown.value = false;
  };
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={close}>
      <form method="dialog" onSubmit={close}>
        <h2 id="help-title">Keys</h2>
        <dl class="facts">
          {keys.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <footer>
          <button type="submit" class="btn">
            Close
          </button>
        </footer>
      </form>
    </dialog>
  );
}

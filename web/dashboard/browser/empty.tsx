import type { ComponentChildren } from 'preact';

/** Tells what will be here, and how; or that the filters leave nothing. */
export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}

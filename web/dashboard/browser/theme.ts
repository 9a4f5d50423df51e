const kept = 'unwedge-theme';

/** Takes the theme that was chosen in this browser; without one that of the system. */
export function restoreTheme(): void {
  const theme = localStorage.getItem(kept);
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset['theme'] = theme;
}

export function nextTheme(): void {
  const { documentElement: root } = document;
  const isDark =
    root.dataset['theme'] === undefined
      ? matchMedia('(prefers-color-scheme: dark)').matches
      : root.dataset['theme'] === 'dark';
  const theme = isDark ? 'light' : 'dark';
  root.dataset['theme'] = theme;
  localStorage.setItem(kept, theme);
  dispatchEvent(new Event('themechange'));
}

/** Tells where an address leads; its port, where it names none, is that of its scheme. */
export function serverOf(url: string | URL): { readonly host: string; readonly port: number } {
  const { hostname: host, port, protocol } = new URL(url);
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

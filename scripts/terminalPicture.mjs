const [charWidth, lineHeight, margin] = [8.4, 19, 16];

/**
 * What a command prints, as an SVG of a terminal.
 * @param {string} command - shown before it
 * @param {string} output - plain text
 */
export function terminalPicture(command, output) {
  const lines = [`$ ${command}`, ...output.trimEnd().split('\n')];
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * charWidth) + 2 * margin;
  const height = lines.length * lineHeight + 2 * margin;
  const texts = lines.map((line, at) => {
    const place = `x="${margin}" y="${margin + (at + 0.75) * lineHeight}"`;
    return line === '' ? '' : `<text ${place}${colourOf(line)}>${aligned(line)}</text>\n`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(command)}">\n` +
    `<rect width="${width}" height="${height}" rx="8" fill="#16181d"/>\n` +
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" ` +
    `fill="#d6d9e0">\n${texts.join('')}</g>\n</svg>\n`
  );
}

function colourOf(line) {
  if (line.startsWith('$ ')) return ' fill="#8ab4f8"';
  if (line.trimStart().startsWith('✓')) return ' fill="#9ece9e"';
  return /^[A-Z ]+$/.test(line) ? ' fill="#9aa0aa"' : '';
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Browsers draw several blanks as one, whatever the picture asks for. */
function aligned(text) {
  return escaped(text).replaceAll(' ', '\u00a0');
}

import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import llms from 'vitepress-plugin-llms';
import { anchorOf } from '../../scripts/sitePage.mjs';

// What stands on which page, as scripts/site.mjs has laid it out.
const { groups } = JSON.parse(readFileSync(new URL('../pages/contents.json', import.meta.url), 'utf8'));

export default defineConfig({
  title: 'unwedge',
  description: 'Keeps AI-agent gateways unstuck: every call ends exactly once, and the session goes on.',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  // A page that shows no address of a server that is asked for fonts or icons works without a network.
  lastUpdated: false,
  ignoreDeadLinks: false,
  markdown: { anchor: { slugify: anchorOf } },
  vite: { plugins: [llms({ domain: '', generateLLMFriendlyDocsForEachPage: true })] },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guides', link: groups.find(({ text }) => text === 'Guides')?.items[0]?.link ?? '/' },
      { text: 'Configuration', link: '/docs/configuration' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: [...groups, { text: 'API', collapsed: true, items: [{ text: 'All names', link: '/api/' }] }],
    docFooter: { prev: 'Before', next: 'Next' },
  },
});

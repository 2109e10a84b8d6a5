// What the site is made of is written by build/site: sources in src/, and what stands beside the pages in navigation.json.
import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'
import { searchOptions, toIndex } from './search.js'

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const { sidebar, version } = read('../src/navigation.json')
const { homepage } = read('../../../package.json')

/** The id of a heading, as the hosts of repositories make it. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s/g, '-')

export default defineConfig({
  title: 'conform',
  description: 'Does a server keep the AI Content Service interface?',
  srcDir: 'src',
  outDir: '..',
  base: homepage === undefined ? '/' : new URL(homepage).pathname.replace(/\/?$/, '/'),
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify },
    headers: { slugify },
    // Colours that can be read by everybody.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { console: 'sh' },
    config(md) {
      const { fence } = md.renderer.rules
      md.renderer.rules.fence = (tokens, at, ...rest) => {
        const { content, info } = tokens[at]
        return info.trim() === 'mermaid'
          ? `<Diagram text="${md.utils.escapeHtml(content)}" />`
          : fence(tokens, at, ...rest)
      }
    },
  },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/docs/for-implementers.md' },
      { text: 'Command line', link: '/docs/command-line.md' },
      { text: 'Requirements', link: '/requirements/' },
      { text: version, link: '/CHANGELOG.md' },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local', options: { ...searchOptions, _render: toIndex } },
    notFound: {
      title: 'There is no such page',
      quote: 'Look for it with the search above, or begin at the overview.',
      linkText: 'Overview',
    },
  },
})

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Compiled code lies one folder deep in the package: from there, as from a checkout, this is the folder of the page. */
const folder = /\/reporters\/html\/[^/]*$/.test(import.meta.url) ? './' : '../reporters/html/'
const read = (name: string) => readFileSync(new URL(`${folder}${name}`, import.meta.url), 'utf8').trim()
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The page's own style and script, inlined: the file needs nothing but itself. */
const sheets = ['base', 'masthead', 'failures', 'matrix', 'list', 'exchange', 'signs', 'narrow', 'print']
export const style = sheets.map((name) => read(`style/${name}.css`)).join('\n')
export const script = read('page.js')

/** Allows that style and that script, if there is one, by their hashes, and nothing else: no remote, no inline event code. */
export function policyFor(page: { readonly style: string; readonly script?: string }): string {
  return [
    "default-src 'none'",
    `style-src ${hashOf(page.style)}`,
    ...(page.script === undefined ? [] : [`script-src ${hashOf(page.script)}`]),
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}
export const contentSecurityPolicy = policyFor({ style, script })

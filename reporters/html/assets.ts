import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { packageFile } from '../../schemas/package-file.ts'
import { htmlAnchor, htmlAttribute, htmlText } from '../text.ts'

const read = (name: string) => readFileSync(packageFile(`reporters/html/${name}`), 'utf8').trim()
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const sheets = [
  'base',
  'masthead',
  'map',
  'failures',
  'list',
  'exchange',
  'signs',
  'narrow',
  'print',
]
const style = sheets.map((name) => read(`style/${name}.css`)).join('\n')
export const script = read('page.js')

/** Allows only this style and script, by hash: nothing remote, no inline event code. */
const policy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

export function pageHead(title: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${htmlAttribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${htmlText(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style></head>`
}

export function sectionHead(id: string, title: string, aside: string | number = ''): string {
  const quiet = aside === '' ? '' : ` <small>${aside}</small>`
  return `<section aria-labelledby="${id}"><h2 id="${id}">${title}${quiet}</h2>`
}

export function idLink(id: string): string {
  return `<a class="mono" href="${htmlAnchor(id)}">${htmlText(id)}</a>`
}

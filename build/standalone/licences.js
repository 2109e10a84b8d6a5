import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * A comment with the licence of each package that was taken in, as their licences ask for.
 * @param {readonly string[]} modules paths of what was taken in
 */
export function licences(modules) {
  const folders = new Set(modules.flatMap((id) => id.match(/^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []))
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
    return `${name} ${version} (${license})\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}`
  })
  return `/* This file holds these packages:\n\n${texts.join('\n\n').replaceAll('*/', '* /')}\n*/\n`
}

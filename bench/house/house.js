// Measures how the house stands: folders that know each other, what is handed round, how long things are.
// `npm run house` prints the figures; with --check it fails if one is worse than what CONTRIBUTING promises.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cyclesOf, edgesOf, mutualPairs } from './folders.js'
import { handedRound, longFunctions } from './signatures.js'

/** Sources that ship or build what ships: neither tests nor what measures. */
const files = execFileSync('git', ['ls-files', '*.ts'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((path) => !/^(tests|bench|examples)\//.test(path))
const sources = new Map(files.map((path) => [path, readFileSync(path, 'utf8')]))

const edges = edgesOf(sources)
const lines = [...sources.values()].reduce((sum, text) => sum + text.split('\n').length - 1, 0)
const largest = handedRound(sources)
const figures = [
  ['folders in a cycle', cyclesOf(edges).length, 0, cyclesOf(edges).join(', ')],
  ['pairs of folders that import each other', mutualPairs(edges).length, 0, mutualPairs(edges).join(', ')],
  ['functions with five or more parameters', longFunctions(sources).length, 0, longFunctions(sources).join(', ')],
  ['members of the largest object handed round', largest.members, 9, `${largest.name} in ${largest.path}`],
  ['files over 300 lines', over(300).length, 0, over(300).join(', ')],
  ['TypeScript files', files.length, undefined, ''],
  ['lines in them', lines, undefined, ''],
]

for (const [what, is, most, where] of figures) {
  const bad = most !== undefined && is > most
  console.log(`${bad ? '✗' : ' '} ${String(is).padStart(6)}  ${what}${most === undefined ? '' : ` (at most ${most})`}`)
  if (where !== '') console.log(`          ${where}`)
  if (bad && process.argv.includes('--check')) process.exitCode = 1
}

function over(most) {
  return [...sources].filter(([, text]) => text.split('\n').length - 1 > most).map(([path]) => path)
}

// Writes the declarations of the package: those of its entries, and of what they lead to. `npm run types` checks the sources.
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * @param {string} dir folder of the package, or of a copy of it
 * @param {ts.CompilerHost['getSourceFile']} [getSourceFile] reads a source, default as tsc does
 * @returns {string} what cannot be declared, in the words of tsc; empty if nothing is wrong
 */
export function writeTypes(dir, getSourceFile) {
  const outDir = join(dir, 'dist/types')
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.build.json'),
    { outDir, noCheck: true },
    ts.sys,
  )
  const plain = ts.createCompilerHost(config.options)
  const host = getSourceFile ? { ...plain, getSourceFile } : plain
  const program = ts.createProgram(config.fileNames, config.options, host)
  const told = [
    ...config.errors,
    ...program.getOptionsDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...program.getSemanticDiagnostics(),
  ]
  const inWords = () => ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(told), host)
  if (told.length > 0) return inWords()

  rmSync(outDir, { recursive: true, force: true })
  /** @type {Set<string>} */
  const written = new Set()
  const write = (/** @type {string} */ file) => {
    if (written.has(file)) return
    written.add(file)
    const source = program.getSourceFile(join(root, relative(outDir, file).replace(/\.d\.ts$/, '.ts')))
    if (source === undefined) throw new Error(`${file} is imported by a declaration, or an entry, and has no source`)
    const { diagnostics } = program.emit(source, (path, text) => {
      host.writeFile(path, text, false)
      // `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`.
      for (const [, to] of text.matchAll(/(?:from|import)\s*\(?\s*["'](\.[^"']+)\.ts["']/g))
        write(resolve(dirname(path), `${to}.d.ts`))
    })
    told.push(...diagnostics)
  }
  const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const { types } of Object.values(about.exports)) if (types !== undefined) write(join(dir, types))
  return inWords()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wrong = writeTypes(root)
  process.stdout.write(wrong)
  if (wrong !== '') process.exitCode = 1
}

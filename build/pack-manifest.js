// What is packed needs no `prepare`, which compiles a checkout: it would only tell users of a script that cannot run there.
// node build/pack-manifest.js strip: before packing, takes it out; restore: after it, puts the manifest back as it was.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const manifest = fileURLToPath(new URL('../package.json', import.meta.url))
const whole = `${manifest}.whole`

if (process.argv[2] === 'strip' && !existsSync(whole)) {
  const text = readFileSync(manifest, 'utf8')
  const { scripts, ...others } = JSON.parse(text)
  const { prepare, ...kept } = scripts
  if (prepare === undefined) throw new Error('package.json has no script "prepare" to take out')
  writeFileSync(whole, text)
  writeFileSync(manifest, `${JSON.stringify({ ...others, scripts: kept }, null, 2)}\n`)
}
if (process.argv[2] === 'restore' && existsSync(whole)) renameSync(whole, manifest)

/**
 * The words that start this program as the user did, so that printed commands can be copied: npx does not put `conform`
 * on the path.
 */
export function program(process: Pick<NodeJS.Process, 'argv' | 'env'>): readonly string[] {
  const path = process.argv[1] ?? ''
  if (process.env['npm_command'] !== 'exec' || !/node_modules.*conform(?:\.js)?$/.test(path))
    return ['conform']
  return ['npx', path.includes('_npx') ? 'ai-content-conformance' : 'conform']
}

export { SeglogError } from './errors.js'

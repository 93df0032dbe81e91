import { defineEventHandler, getRouterParam } from "h3";
import { plain } from "../../utils/plain";

export default defineEventHandler((event) => plain(event, `Hola ${getRouterParam(event, "name", { decode: true })}`));

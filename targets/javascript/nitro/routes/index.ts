import { defineEventHandler } from "h3";
import { plain } from "../utils/plain";

// Without a method in the name of the file, HEAD comes here too.
export default defineEventHandler((event) => plain(event, "Hello World!"));

import { defineEventHandler } from "h3";
import { pool } from "../../utils/pool";

export default defineEventHandler(async () => {
  const { rows } = await pool.query("SELECT id, name, email FROM users ORDER BY id");
  return rows;
});

-- Pippin's workloads in Lua inside nginx.
local _M = {}

local device_body = string.rep("x", 1024)

function _M.hello()
  ngx.print("Hello World!")
end

function _M.hola(name)
  ngx.print("Hola ", name)
end

-- Waits 95 to 105 ms; ngx.sleep holds no thread. nginx counts whole milliseconds.
function _M.device()
  ngx.sleep(math.random(95, 105) / 1000)
  ngx.print(device_body)
end

-- An event each 100 ms: its number, and the milliseconds since 1970.
function _M.events()
  ngx.header.content_type = "text/event-stream"
  ngx.header.cache_control = "no-store"
  for n = 0, 99 do
    if n > 0 then
      ngx.sleep(0.1)
    end
    ngx.update_time()
    ngx.print(string.format("data: %d %d\n\n", n, ngx.now() * 1000))
    if not ngx.flush(true) then
      return
    end
  end
end

function _M.proxy()
  local answer = ngx.location.capture("/upstream")
  ngx.status = answer.status
  ngx.print(answer.body)
end

return _M

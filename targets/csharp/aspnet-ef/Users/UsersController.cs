using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Mvc;
using Microsoft.EntityFrameworkCore;

namespace AspNetEf.Users
{
    [ApiController]
    [Route("api/users")]
    public class UsersController : ControllerBase
    {
        private readonly UsersContext context;

        public UsersController(UsersContext context) => this.context = context;

        [HttpGet]
        public async Task<IReadOnlyList<User>> All() =>
            await context.Users.AsNoTracking().OrderBy(user => user.Id).ToListAsync();
    }
}

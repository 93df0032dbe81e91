using System.Collections.Generic;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Mvc;

namespace AspNetDapper.Users
{
    [ApiController]
    [Route("api/users")]
    public class UsersController : ControllerBase
    {
        private readonly UsersTable users;

        public UsersController(UsersTable users) => this.users = users;

        [HttpGet]
        public Task<IEnumerable<User>> All() => users.All();
    }
}

// SPDX-License-Identifier: Apache-2.0
// What the generated C# client needs and Debian does not have, so that it compiles by Debian's compiler and library of JSON.
using System;
using System.Threading.Tasks;

// The client names these types of a library for retries, and calls them only where an app sets a policy, which the scenario does not.
namespace Polly
{
    public enum OutcomeType { Successful, Failure }

    public class PolicyResult<T>
    {
        public OutcomeType Outcome { get; set; }
        public Exception FinalException { get; set; }
        public T Result { get; set; }
    }

    public interface ISyncPolicy<T>
    {
        PolicyResult<T> ExecuteAndCapture(Func<T> action);
    }

    public interface IAsyncPolicy<T>
    {
        Task<PolicyResult<T>> ExecuteAndCaptureAsync(Func<Task<T>> action);
    }
}

// Newtonsoft.Json 6 has no naming strategies. The models name each member themselves, so one has nothing to say.
namespace Store
{
    public class CamelCaseNamingStrategy
    {
        public bool OverrideSpecifiedNames { get; set; }
    }

    public class DefaultContractResolver : Newtonsoft.Json.Serialization.DefaultContractResolver
    {
        public CamelCaseNamingStrategy NamingStrategy { get; set; }
    }
}

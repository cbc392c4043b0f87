/// An error of the modules below the public API, or of that API's internals. Users never receive it directly.
///
/// Before an error leaves the framework, an `EngineFailure` is converted to a `CocoaError`. Other errors come from the
/// program or from Foundation, and are passed on unchanged.
package protocol EngineFailure: Error {}

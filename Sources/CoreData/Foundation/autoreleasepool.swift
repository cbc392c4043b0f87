/// Calls the closure. There are no autoreleased objects here: each goes when its last reference does.
///
/// Source for Apple's platforms that bounds memory in a loop compiles and does the same:
///
///     for batch in batches { try autoreleasepool { try insert(batch) } }
@inlinable
public func autoreleasepool<Failure: Error, Result: ~Copyable>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}

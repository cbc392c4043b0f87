import Logging

/// Where loading and merging models tells what went wrong when the call itself can only return `nil`.
let modelLogger = Logger(label: "CoreData.Model")

import CoreDataPrimitives

extension Compilation {
    mutating func checkConfigurations() {
        var seen: Set<String> = []
        for configuration in document.configurations {
            if configuration.name.isEmpty {
                report("a configuration has no name", at: configuration.location, rule: .badConfiguration)
            } else if !seen.insert(configuration.name).inserted {
                report(
                    "two configurations are named '\(configuration.name)'", at: configuration.location,
                    rule: .badConfiguration)
            }
            for name in configuration.entityNames where indexByName[name] == nil {
                report(
                    "configuration '\(configuration.name)' has entity '\(name)', which is not in the model",
                    at: configuration.location,
                    hint: nearest(to: name, among: indexByName.keys).map { "did you mean '\($0)'?" },
                    rule: .badConfiguration)
            }
        }
        var requests: Set<String> = []
        for request in document.fetchRequests {
            if request.name.isEmpty {
                report("a fetch request has no name", at: request.location, rule: .badFetchRequest)
            } else if !requests.insert(request.name).inserted {
                report(
                    "two fetch requests are named '\(request.name)'", at: request.location,
                    rule: .badFetchRequest, subject: request.name)
            }
            if let name = request.entityName, indexByName[name] == nil {
                report(
                    "fetch request '\(request.name)' fetches entity '\(name)', which is not in the model",
                    at: request.location,
                    hint: nearest(to: name, among: indexByName.keys).map { "did you mean '\($0)'?" },
                    rule: .badFetchRequest, subject: request.name)
            }
        }
    }
}

"""Would the tests notice? Small changes are made to the code that judges, and the tests are run."""
